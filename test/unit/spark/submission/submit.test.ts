/** The objects of one attempt of a SparkApplication. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { specSchema } from "../../../../shared/spark/schema/application.ts";
import type { Submission } from "../../../../shared/spark/submission/submit.ts";
import { submit } from "../../../../shared/spark/submission/submit.ts";
import { parseProperties } from "../../../proof/compat/properties.ts";

const asked = (changes: object, attempt = 1, annotations: Readonly<Record<string, string>> = {}) =>
  submit({
    app: {
      ...{ name: "pi", namespace: "jobs", uid: "u-1", annotations },
      labels: { team: "data", "kueue.x-k8s.io/queue-name": "q" },
    },
    spec: specSchema.parse({
      type: "Scala",
      sparkVersion: "4.1.1",
      image: "spark:4.1.1",
      mainClass: "org.example.Pi",
      mainApplicationFile: "local:///opt/pi.jar",
      arguments: ["10"],
      driver: { memory: "512m", serviceAccount: "spark" },
      executor: { instances: 2 },
      ...changes,
    }),
    attempt,
    submittedAt: 1_700_000_000_000,
    apiServer: "https://kubernetes.default.svc",
  });

const submitted = (changes: object, attempt = 1): Submission => {
  const result = asked(changes, attempt);
  assert.ok(!("refused" in result), "refused" in result ? result.refused : "");
  return result;
};

/** Returns the text under this key of a ConfigMap. */
const dataOf = ({ before }: Submission, key: string): string => {
  const found = before
    .map(({ data }) => JSON.parse(JSON.stringify(data ?? {}))[key])
    .find((text) => text !== undefined);
  return `${found}`;
};

const confsOf = (submission: Submission): Record<string, string> =>
  parseProperties(dataOf(submission, "spark.properties"));

const template = (submission: Submission) => JSON.parse(dataOf(submission, "podspec-configmap-key"));

const driver = (submission: Submission) => JSON.parse(JSON.stringify(submission.driver));

describe("submit", () => {
  test("returns the same objects for the same attempt, and other names for another attempt", () => {
    const told = ({ notes, ...objects }: Submission) => ({ ...objects, notes: notes() });
    assert.deepEqual(told(submitted({})), told(submitted({})));
    const [first, second] = [submitted({}, 1), submitted({}, 2)];
    assert.notEqual(first.submissionId, second.submissionId);
    assert.equal(first.driverPodName, second.driverPodName);
    const names = [first, second].flatMap(({ before }) => before.map(({ metadata }) => metadata.name));
    assert.equal(new Set(names).size, 6);
  });

  const heavy = "x".repeat(1_100_000);
  const tooLarge: readonly (readonly [string, object, RegExp])[] = [
    [
      "sparkConf",
      { sparkConf: { "spark.a": "1", "spark.big": heavy } },
      /^spec\.sparkConf is too large: it has 1100\d{3} bytes, most of them in spark\.big \(1100000 bytes\);/,
    ],
    ["hadoopConf", { hadoopConf: { "fs.big": heavy } }, /^spec\.hadoopConf is too large: .* fs\.big /],
    [
      "an executor template",
      { executor: { template: { metadata: { annotations: { big: heavy } }, spec: { containers: [] } } } },
      /^spec\.executor\.template is too large: .*a ConfigMap, which holds 1048576 bytes/,
    ],
  ];
  for (const [what, changes, says] of tooLarge) {
    test(`refuses ${what} that is too large for a ConfigMap, and names it`, () => {
      const result = asked(changes);
      assert.match("refused" in result ? result.refused : "", says);
    });
  }

  test("accepts confs that just fit into a ConfigMap", () => {
    assert.equal(
      confsOf(submitted({ sparkConf: { "spark.big": "x".repeat(1_000_000) } }))["spark.big"]?.length,
      1_000_000,
    );
  });

  test("labels each object with application and attempt, and makes the application its owner", () => {
    const { before, driver: pod } = submitted({}, 3);
    for (const { metadata } of [...before, pod]) {
      assert.equal(metadata.namespace, "jobs");
      assert.equal(metadata.labels?.["rekindle.dev/app-uid"], "u-1");
      assert.equal(metadata.labels?.["rekindle.dev/attempt"], "3");
      assert.equal(metadata.labels?.["sparkoperator.k8s.io/app-name"], "pi");
      assert.deepEqual(
        metadata.ownerReferences?.map(({ kind, uid, controller }) => ({ kind, uid, controller })),
        [{ kind: "SparkApplication", uid: "u-1", controller: true }],
      );
    }
  });

  test("marks the pod of a driver whose executors Rekindle creates", () => {
    const marks = ["own", "assist"].map((owner) => {
      const made = asked({}, 1, { "rekindle.dev/executors": owner });
      return "refused" in made ? made.refused : made.driver.metadata.annotations?.["rekindle.dev/executors"];
    });
    assert.deepEqual(marks, ["own", undefined]);
  });

  test("makes the application an owner of executors, but not their controller, which is the driver", () => {
    const [owner] = template(submitted({})).metadata.ownerReferences;
    assert.deepEqual(owner, {
      apiVersion: "sparkoperator.k8s.io/v1beta2",
      kind: "SparkApplication",
      name: "pi",
      uid: "u-1",
    });
  });

  test("returns a service that selects the driver of this attempt", () => {
    const submission = submitted({});
    const service = submission.before.find(({ kind }) => kind === "Service");
    const { selector } = JSON.parse(JSON.stringify(service)).spec;
    assert.equal(selector["sparkoperator.k8s.io/submission-id"], submission.submissionId);
    assert.deepEqual({ ...submission.driver.metadata.labels, ...selector }, submission.driver.metadata.labels);
  });

  test("passes the application's labels to the pods, except for Kueue's", () => {
    const { labels } = submitted({}).driver.metadata;
    assert.equal(labels?.["team"], "data");
    assert.equal(labels?.["kueue.x-k8s.io/queue-name"], undefined);
  });

  test("prefers typed fields to sparkConf", () => {
    assert.equal(confsOf(submitted({ sparkConf: { "spark.driver.memory": "9g" } }))["spark.driver.memory"], "512m");
  });

  describe("for the pods of ended executors", () => {
    const key = "spark.kubernetes.executor.deleteOnTermination";
    const rows: readonly (readonly [string, object, string])[] = [
      ["keeps them by default", {}, "false"],
      ["does not keep them if the field says so", { executor: { deleteOnTermination: true } }, "true"],
      ["does not keep them if the conf says so", { sparkConf: { [key]: "true" } }, "true"],
    ];
    for (const [what, changes, value] of rows) {
      test(what, () => assert.equal(confsOf(submitted(changes))[key], value));
    }
  });

  test("writes the fields of upstream's webhook into the driver pod and into the executors' template", () => {
    const fields = {
      env: [{ name: "A", value: "1" }],
      tolerations: [{ operator: "Exists" }],
      sidecars: [{ name: "side", image: "busybox" }],
      volumeMounts: [{ name: "cfg", mountPath: "/cfg" }],
      podSecurityContext: { fsGroup: 1 },
      priorityClassName: "high",
    };
    const submission = submitted({
      volumes: [{ name: "cfg", configMap: { name: "c" } }],
      driver: fields,
      executor: fields,
    });
    for (const pod of [driver(submission), template(submission)]) {
      const [main, side] = pod.spec.containers;
      assert.equal(main.env.at(-1).name, "A");
      assert.equal(side.name, "side");
      assert.deepEqual(main.volumeMounts.at(-1), { name: "cfg", mountPath: "/cfg" });
      assert.deepEqual(pod.spec.volumes.at(-1), { name: "cfg", configMap: { name: "c" } });
      assert.deepEqual(pod.spec.securityContext, { fsGroup: 1 });
      assert.equal(pod.spec.priorityClassName, "high");
    }
  });

  test("keeps the containers of a user's template in order, and drops unknown fields", () => {
    const containers = [
      { name: "side", image: "s" },
      { name: "spark-kubernetes-executor", nonsense: 1 },
    ];
    const { spec } = template(
      submitted({ executor: { template: { spec: { containers, securityContext: { capabilities: {} } } } } }),
    );
    assert.deepEqual(spec.containers, [{ name: "side", image: "s" }, { name: "spark-kubernetes-executor" }]);
    assert.deepEqual(spec.securityContext, {});
  });

  test("sets the grace of executors as a conf in versions that read it", () => {
    const executor = { terminationGracePeriodSeconds: 45 };
    const key = "spark.kubernetes.executor.terminationGracePeriodSeconds";
    assert.equal(confsOf(submitted({ executor }))[key], "45s");
    assert.equal(confsOf(submitted({ executor, sparkVersion: "4.0.4" }))[key], undefined);
  });

  test("returns a ConfigMap for metrics, which attempts share", () => {
    const monitoring = {
      exposeDriverMetrics: true,
      exposeExecutorMetrics: false,
      prometheus: { jmxExporterJar: "/j" },
    };
    const submission = submitted({ monitoring });
    const map = submission.before.find(({ metadata }) => metadata.name === "pi-prom-conf");
    assert.equal(map?.metadata.labels?.["rekindle.dev/attempt"], undefined);
    assert.match(confsOf(submission)["spark.driver.extraJavaOptions"] ?? "", /^-javaagent:\/j=8090:/);
    assert.equal(confsOf(submission)["spark.executor.extraJavaOptions"], undefined);
  });

  const refused: readonly (readonly [string, object, RegExp])[] = [
    ["client mode", { mode: "client" }, /^spec\.mode: /],
    ["no image", { image: undefined }, /^Must specify the driver container image/],
    ["no class", { mainClass: undefined }, /set spec\.mainClass/],
    ["a jar on the submitter's disk", { mainApplicationFile: "/tmp/a.jar" }, /^\/tmp\/a\.jar is a file/],
    ["memory in an unknown unit", { driver: { memory: "512q" } }, /^spec\.driver\.memory: "512q"/],
    [
      "an invalid template",
      { driver: { template: { spec: { containers: "x" } } } },
      /^Could not load the driver's pod from its template/,
    ],
    [
      "scratch volumes of an unknown kind",
      {
        volumes: [{ name: "spark-local-dir-1", csi: { driver: "d" } }],
        driver: { volumeMounts: [{ name: "spark-local-dir-1", mountPath: "/s" }] },
      },
      /^spec\.volumes: unsupported volume type/,
    ],
  ];
  for (const [what, changes, message] of refused) {
    test(`refuses ${what} with a remedy`, () => {
      const result = asked(changes);
      assert.ok("refused" in result);
      assert.match(result.refused, message);
    });
  }

  test("returns notes on fields with another effect than under upstream", () => {
    assert.match(
      submitted({ executor: { memoryLimit: "2g" } })
        .notes()
        .join(),
      /memoryLimit needs the admission webhook/,
    );
    assert.match(submitted({ failureRetries: 3 }).notes().join(), /spec.failureRetries .* use spec.restartPolicy/);
    assert.deepEqual(submitted({}).notes(), []);
  });
});
