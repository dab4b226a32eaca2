/** Admission of each Spark kind, and of objects that it does not judge. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policyObjects } from "../../../../shared/installation/policies.ts";
import { isCounted } from "../../../../shared/spark/admission/review.ts";
import { confRules } from "../../../../shared/spark/schema/rules.ts";
import { creating, type Fields, good, groupKind, patchOf, said } from "./reviews.ts";

describe("a SparkApplication", () => {
  const warned: readonly (readonly [string, object, RegExp])[] = [
    ["no image", { image: undefined }, /^warning: its submission will fail: Must specify the driver container image/],
    ["client mode", { mode: "client" }, /^warning: its submission will fail: spec\.mode/],
    [
      "a local file as a dependency",
      { deps: { jars: ["/tmp/a.jar"] } },
      /^warning: its submission will fail: \/tmp\/a\.jar/,
    ],
    [
      "initialExecutors above maxExecutors",
      { dynamicAllocation: { enabled: true, initialExecutors: 9, maxExecutors: 3 } },
      /^warning: spec\.dynamicAllocation\.initialExecutors \(9\) is greater than maxExecutors \(3\)$/,
    ],
    [
      "a mount of an undeclared volume",
      { driver: { volumeMounts: [{ name: "config", mountPath: "/etc/app" }] } },
      /^warning: spec\.driver\.volumeMounts\[0\] is ignored: spec\.volumes declares no volume "config"/,
    ],
    [
      "two volumes of one name",
      {
        volumes: [
          { name: "a", emptyDir: {} },
          { name: "a", hostPath: { path: "/a" } },
        ],
      },
      /^warning: spec\.volumes\[1\] is ignored: spec\.volumes\[0\] has the same name "a"/,
    ],
    ["packages", { deps: { packages: ["a:b:1"] } }, /^warning: spec\.deps\.packages are resolved by the driver/],
  ];
  for (const [what, changes, says] of warned)
    test(`with ${what} is accepted with a warning`, () => {
      assert.match(said(creating("SparkApplication", { ...good, ...changes })), says);
    });

  const silent: readonly (readonly [string, unknown])[] = [
    ["a valid spec", good],
    ["a memory limit of executors, which admission applies", { ...good, executor: { memoryLimit: "2g" } }],
  ];
  for (const [what, spec] of silent)
    test(`is accepted without a warning: ${what}`, () => assert.equal(said(creating("SparkApplication", spec)), ""));

  test("is judged with the deployment's confs, as its submission has them, and with its own before these", () => {
    const confs = { "spark.jars": "/tmp/a.jar" };
    const refused = /^warning: its submission will fail: \/tmp\/a\.jar/;
    assert.match(said(creating("SparkApplication", good), confs), refused);
    const own = { ...good, sparkConf: { "spark.jars": "https://a.example/a.jar" } };
    assert.equal(said(creating("SparkApplication", own), confs), "");
    const schedule = { schedule: "@daily", template: good };
    assert.match(
      said(creating("ScheduledSparkApplication", schedule), confs),
      /^warning: its runs will fail: in spec\.template, \/tmp\/a\.jar/,
    );
  });

  test("gets no default of a field for which the deployment has a conf, and no conf of the deployment", () => {
    const { driver: _, executor: __, ...bare } = good;
    const request = creating("SparkApplication", {
      ...bare,
      driver: {},
      executor: {},
      restartPolicy: { type: "Never" },
    });
    const confs = {
      "spark.driver.cores": "2",
      "spark.executor.memory": "4g",
      "spark.dynamicAllocation.enabled": "true",
    };
    assert.deepEqual(patchOf(request, confs), [
      { op: "add", path: "/spec/driver/memory", value: "1g" },
      { op: "add", path: "/spec/executor/cores", value: 1 },
    ]);
  });

  test("without a type gets upstream's default", () => {
    const { type: _type, ...untyped } = good;
    const patch = patchOf(creating("SparkApplication", { ...untyped, restartPolicy: { type: "Never" } }));
    assert.deepEqual(patch, [{ op: "add", path: "/spec/type", value: "Scala" }]);
  });

  test("with generateName is checked with the longest name that it can get", () => {
    const generateName = "a".repeat(63);
    assert.equal(said(creating("SparkApplication", good, { generateName })), "");
    assert.match(said(creating("SparkApplication", good, { generateName: "9-" })), /^metadata\.name/);
  });

  test("with too many nested values is refused without a patch", () => {
    const template: unknown = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
    const request = creating("SparkApplication", { ...good, driver: { template } });
    assert.match(said(request), /^spec holds more than 50,000 values/);
    assert.match(said({ ...request, operation: "UPDATE", oldObject: request.object }), /^spec holds more/);
    assert.deepEqual(patchOf(request), []);
  });
});

/** Each value refers to the next conf twice. */
const bomb = Object.fromEntries([
  ...Array.from({ length: 30 }, (_, at) => [`spark.b${at}`, `$\{spark.b${at + 1}}$\{spark.b${at + 1}}`]),
  ["spark.b30", "x".repeat(100)],
]);

describe("a ScheduledSparkApplication", () => {
  const schedule = { schedule: "@every 5m", template: good };
  const rows: readonly (readonly [string, Fields, unknown, RegExp])[] = [
    ["a valid spec", { name: "nightly" }, schedule, /^$/],
    ["a name that no service can have", { name: "1st" }, schedule, /^metadata\.name "1st" must start with/],
    [
      "a conf of the deny list",
      { name: "nightly" },
      { ...schedule, template: { ...good, sparkConf: { "spark.master": "local" } } },
      /^sparkConf key "spark\.master" is not allowed/,
    ],
    ["no template", { name: "nightly" }, { schedule: "@daily" }, /^spec\.template is missing/],
    ["no spec", { name: "nightly" }, undefined, /^spec is missing/],
    [
      "an invalid schedule: accepted with a warning, as upstream accepts it",
      { name: "nightly" },
      { ...schedule, schedule: "whenever" },
      /^warning: it will not run: spec\.schedule/,
    ],
    [
      "30 February",
      { name: "nightly" },
      { ...schedule, schedule: "0 0 30 2 *" },
      /^warning: .*names no time that ever comes$/,
    ],
    [
      "an invalid time zone",
      { name: "nightly" },
      { ...schedule, timeZone: "../../etc/passwd" },
      /^warning: it will not run: .*[Tt]ime ?[Zz]one/,
    ],
    [
      "a name that is too long for the names of its runs",
      { name: "a".repeat(60) },
      schedule,
      /^warning: it will not run: metadata\.name/,
    ],
    [
      "a template of runs that will fail",
      { name: "nightly" },
      { ...schedule, template: { ...good, driver: { memory: "1Gi" } } },
      /^warning: its runs will fail: in spec\.template, spec\.driver\.memory/,
    ],
    [
      "runs whose conf references double many times",
      { name: "nightly" },
      { ...schedule, template: { ...good, sparkConf: bomb } },
      /^warning: its runs will fail: in spec\.template, .*spark\.b\d+/,
    ],
    [
      "runs with a mount of an undeclared volume",
      { name: "nightly" },
      { ...schedule, template: { ...good, driver: { volumeMounts: [{ name: "a", mountPath: "/a" }] } } },
      /^warning: in spec\.template, spec\.driver\.volumeMounts\[0\] is ignored/,
    ],
  ];
  for (const [what, metadata, spec, says] of rows)
    test(what, () => assert.match(said(creating("ScheduledSparkApplication", spec, metadata)), says));
});

describe("a SparkConnect", () => {
  const server = { sparkVersion: "4.1.1", image: "spark:4.1.1", server: {}, executor: {} };
  const image = { template: { spec: { containers: [{ name: "spark-kubernetes-executor", image: "spark:4.1.1" }] } } };
  const bounds = (more: object) => ({ ...server, dynamicAllocation: { enabled: true, ...more } });
  const rows: readonly (readonly [string, string, unknown, RegExp])[] = [
    ["a valid spec", "connect", server, /^$/],
    ["images of both templates", "connect", { ...server, image: undefined, server: image, executor: image }, /^$/],
    [
      "an image of one template",
      "connect",
      { ...server, image: "", server: image },
      /^image is not specified: set spec\.image, or one in spec\.executor\.template/,
    ],
    ["a name with dots", "a.b", server, /^metadata\.name "a\.b" must start/],
    ["56 characters", "a".repeat(56), server, /^$/],
    [
      "57 characters",
      "a".repeat(57),
      server,
      /^metadata\.name is 57 characters long, but the service a+-server holds 63/,
    ],
    ["no version", "connect", { ...server, sparkVersion: "" }, /^spec\.sparkVersion is empty/],
    ["a template for Spark 2", "connect", { ...server, sparkVersion: "2.4.8", server: image }, /^spec\.sparkVersion 2/],
    ["no server", "connect", { ...server, server: undefined }, /^spec\.server is missing/],
    ["an invalid size of the server", "connect", { ...server, server: { memory: "1.5g" } }, /^spec\.server\.memory/],
    ["an invalid size of executors", "connect", { ...server, executor: { memory: "-1g" } }, /^spec\.executor\.memory/],
    ["a denied conf", "connect", { ...server, sparkConf: { "spark.master": "x" } }, /^sparkConf key "spark\.master"/],
    [
      "minExecutors above maxExecutors",
      "connect",
      bounds({ minExecutors: 3, maxExecutors: 2 }),
      /minExecutors \(3\) is greater than max/,
    ],
    [
      "initialExecutors below minExecutors",
      "connect",
      bounds({ minExecutors: 3, initialExecutors: 2 }),
      /initialExecutors \(2\) is less/,
    ],
    [
      "initialExecutors above maxExecutors",
      "connect",
      bounds({ maxExecutors: 3, initialExecutors: 4 }),
      /is greater than maxEx/,
    ],
    ["a negative bound", "connect", bounds({ minExecutors: -1 }), /minExecutors must be at least 0, not -1$/],
    [
      "bounds without dynamic allocation",
      "connect",
      { ...server, dynamicAllocation: { minExecutors: 3, maxExecutors: 2 } },
      /^$/,
    ],
  ];
  for (const [what, name, spec, says] of rows)
    test(what, () => assert.match(said(creating("SparkConnect", spec, { name })), says));
});

describe("an executor pod", () => {
  const pod = (resources: unknown, metadata: Fields, name = "spark-kubernetes-executor") => ({
    uid: "review",
    kind: { group: "", version: "v1", kind: "Pod" },
    operation: "CREATE",
    object: { metadata, spec: { containers: [{ name: "sidecar" }, { name, ...(resources ? { resources } : {}) }] } },
  });
  const marked = { name: "exec-1", annotations: { "rekindle.dev/memory-limit": "3Gi" } };
  const at = "/spec/containers/1/resources";
  const rows: readonly (readonly [string, ReturnType<typeof pod>, readonly unknown[]])[] = [
    [
      "over Spark's limit",
      pod({ limits: { memory: "1Gi" } }, marked),
      [{ op: "add", path: `${at}/limits/memory`, value: "3Gi" }],
    ],
    ["without limits", pod({}, marked), [{ op: "add", path: `${at}/limits`, value: { memory: "3Gi" } }]],
    ["without resources", pod(undefined, marked), [{ op: "add", path: at, value: { limits: { memory: "3Gi" } } }]],
    ["without the annotation", pod({}, { name: "exec-1" }), []],
    ["without Spark's container", pod({}, marked, "other"), []],
  ];
  for (const [what, request, patch] of rows)
    test(`gets its memory limit: ${what}`, () => assert.deepEqual(patchOf(request), patch));

  test("is never refused", () => assert.equal(said(pod({}, marked)), ""));
});

describe("a request of an unknown kind or operation", () => {
  const rows = [
    { ...creating("SparkApplication", "nonsense"), kind: { ...groupKind("SparkApplication"), kind: "toString" } },
    { ...creating("SparkApplication", "nonsense"), kind: { ...groupKind("SparkApplication"), group: "__proto__" } },
    {
      ...creating("SparkApplication", "nonsense"),
      kind: { ...groupKind("SparkApplication"), group: "spark.example.org" },
    },
    { ...creating("SparkApplication", "nonsense"), operation: "CONNECT" },
  ];
  for (const request of rows)
    test(`passes: ${request.operation} ${request.kind.group}/${request.kind.kind}`, () => {
      assert.equal(said(request), "");
      assert.deepEqual(patchOf(request), []);
      assert.equal(isCounted(request), false);
    });
});

describe("the policies", () => {
  test("deny the same confs as admission and a step", () => {
    const texts = policyObjects({ namespaces: [] }).map((object) => JSON.stringify(object));
    const lists = texts.flatMap(
      (text) => /\[([^\]]+)\]\.filter\(key/.exec(text)?.[1]?.match(/(?<=')spark[.\w]+(?=')/g) ?? [],
    );
    const denied = [...new Set(lists)];
    assert.equal(denied.length, 13);
    assert.equal(lists.length, 3 * 13);
    for (const key of denied) assert.equal(confRules({ [key]: "x" }, "team").length, 1, key);
    assert.equal(confRules({ "spark.kubernetes.driver.pod.name": "x" }, "team").length, 0);
  });
});
