/** An application with Kueue's queue label never has more executors than Kueue has admitted, however it asks for them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policyObjects } from "../../../../shared/installation/policies.ts";
import { parseWith } from "../../../../shared/spark/schema/rules.ts";
import { submit } from "../../../../shared/spark/submission/submit.ts";
import { parseProperties } from "../../../proof/compat/properties.ts";
import { creating, good, said } from "../admission/reviews.ts";

const labels = { "kueue.x-k8s.io/queue-name": "team-a" };
const own = { "rekindle.dev/executors": "own" };
const dynamic = "spark.dynamicAllocation.enabled";

type Marks = { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };

const inputOf = (spec: object, marks: Marks, confs: Record<string, string> = {}) => {
  const parsed = parseWith(confs, { metadata: { name: "pi" }, spec: { ...good, ...spec } });
  assert.ok(parsed.ok, parsed.ok ? "" : parsed.message);
  return {
    app: { name: "pi", namespace: "jobs", uid: "u-1", ...marks },
    ...{ spec: parsed.spec, attempt: 1, submittedAt: 0, apiServer: "https://kubernetes.default.svc" },
  };
};

const refusal = (spec: object, marks: Marks, confs: Record<string, string> = {}): string => {
  const made = submit(inputOf(spec, marks, confs));
  return "refused" in made ? made.refused : "";
};

const growing: readonly (readonly [what: string, spec: object, confs?: Record<string, string>])[] = [
  ["the field", { dynamicAllocation: { enabled: true } }],
  ["a conf", { sparkConf: { [dynamic]: "true" } }],
  ["a conf in capitals, with spaces", { sparkConf: { [dynamic]: " TRUE\t" } }],
  ["a conf beside a field that is off", { dynamicAllocation: { enabled: false }, sparkConf: { [dynamic]: "True" } }],
  ["the conf of streaming", { sparkConf: { "spark.streaming.dynamicAllocation.enabled": "True" } }],
  ["a conf of the deployment", {}, { [dynamic]: "tRue" }],
];

describe("an application with a queue label whose driver creates the executors", () => {
  for (const [what, spec, confs = {}] of growing) {
    test(`is refused with ${what}: in admission, in its submission, and as a schedule`, () => {
      const says = /^metadata\.labels\[kueue\.x-k8s\.io\/queue-name\]: .*(remove|set) .*spec\.executor\.instances/;
      const whole = { ...good, ...spec };
      assert.match(refusal(spec, { labels }, confs), says);
      assert.match(said(creating("SparkApplication", whole, { name: "app", labels }), confs), says);
      const schedule = { schedule: "@daily", template: whole };
      assert.match(said(creating("ScheduledSparkApplication", schedule, { name: "app", labels }), confs), says);
    });
    test(`is accepted with ${what} where it has no queue label, or an empty one`, () => {
      assert.equal(refusal(spec, {}, confs), "");
      assert.equal(refusal(spec, { labels: { "kueue.x-k8s.io/queue-name": "" } }, confs), "");
      assert.doesNotMatch(said(creating("SparkApplication", { ...good, ...spec }), confs), /queue-name/);
    });
  }

  const counted = { executor: { cores: 1 }, sparkConf: { "spark.executor.instances": "9" } };

  test("is refused with a number of executors that Kueue does not read, whoever creates them", () => {
    const says =
      /spark\.executor\.instances in spec\.sparkConf is not read: write the number in spec\.executor\.instances$/;
    assert.match(refusal(counted, { labels }), says);
    assert.match(refusal(counted, { labels, annotations: own }), says);
    assert.match(said(creating("SparkApplication", { ...good, ...counted }, { name: "app", labels })), says);
    assert.equal(refusal({ ...counted, executor: { instances: 2 } }, { labels }), "");
  });

  test("may be updated where it could outgrow its quota already: Kueue stops it by an update", () => {
    const metadata = { name: "app", labels };
    const [before, after] = [false, true].map((suspend) => ({ ...good, sparkConf: { [dynamic]: "true" }, suspend }));
    const request = creating("SparkApplication", after, metadata);
    const updating = { ...request, operation: "UPDATE", oldObject: { metadata, spec: before } } as const;
    assert.doesNotMatch(said(updating), /queue-name/);
    assert.match(said({ ...updating, oldObject: { metadata, spec: good } }), /queue-name/);
  });

  test("has dynamic allocation off by a conf, which wins over -D options and the image's defaults", () => {
    const confsOf = (marks: Marks, spec: object = {}) => {
      const made = submit(inputOf(spec, marks));
      assert.ok(!("refused" in made));
      const texts = made.before.flatMap(({ data }) => Object.entries(data ?? {}));
      return parseProperties(`${texts.find(([name]) => name === "spark.properties")?.[1]}`);
    };
    const option = { driver: { ...good.driver, javaOptions: `-D${dynamic}=true` } };
    assert.equal(confsOf({ labels }, option)[dynamic], "false");
    assert.equal(confsOf({ labels }, option)["spark.streaming.dynamicAllocation.enabled"], "false");
    assert.equal(confsOf({}, option)[dynamic], undefined);
    assert.equal(confsOf({ labels, annotations: own })[dynamic], "true");
  });
});

describe("an application whose annotation names its LocalQueue", () => {
  const annotations = { "rekindle.dev/kueue-queue": "team-a" };
  const path = String.raw`^metadata\.annotations\[rekindle\.dev\/kueue-queue\]: `;
  const sparkConf = { [dynamic]: "true" };

  test("is refused where its driver creates executors as it needs them, and so is a schedule of it", () => {
    const says = new RegExp(`${path}Kueue admits as many .* set the annotation rekindle\\.dev/executors: own`);
    assert.match(refusal({ sparkConf }, { annotations }), says);
    const metadata = { name: "app", annotations };
    assert.match(said(creating("SparkApplication", { ...good, sparkConf }, metadata)), says);
    const schedule = { schedule: "@daily", template: { ...good, sparkConf } };
    assert.match(said(creating("ScheduledSparkApplication", schedule, metadata)), says);
    const owned = { name: "app", annotations: { ...annotations, ...own } };
    assert.doesNotMatch(said(creating("ScheduledSparkApplication", schedule, owned)), /kueue/);
  });

  test("is refused with a name that no LocalQueue can have, and the label wins over it", () => {
    const says = new RegExp(`${path}"team a" is not the name of a LocalQueue, which has at most 253 lower case`);
    const odd = { "rekindle.dev/kueue-queue": "team a" };
    assert.match(refusal({}, { annotations: odd }), says);
    assert.match(said(creating("SparkApplication", good, { name: "app", annotations: odd })), says);
    assert.equal(refusal({}, { annotations: odd, labels }), "");
  });
});

test("an application with a queue label whose executors Rekindle creates may be dynamic by the conf and by the field", () => {
  const marks = { labels, annotations: own };
  for (const spec of [{ sparkConf: { [dynamic]: "True" } }, { dynamicAllocation: { enabled: true } }]) {
    assert.equal(refusal(spec, marks), "");
    assert.equal(said(creating("SparkApplication", { ...good, ...spec }, { name: "app", ...marks })), "");
  }
});

test("the policies refuse dynamic allocation by the field and by both confs, of applications and schedules", () => {
  const text = JSON.stringify(policyObjects({ namespaces: [] }));
  assert.equal(text.match(/'spark\.streaming\.dynamicAllocation\.enabled'\]\.exists\(/g)?.length, 2);
});

describe("the executors at the start of an application that is dynamic by the conf", () => {
  const confs = {
    [dynamic]: "TRUE",
    "spark.dynamicAllocation.minExecutors": "3",
    "spark.dynamicAllocation.initialExecutors": "5",
  };
  test("are planned as Spark starts them", () => {
    const { [dynamic]: _, ...off } = confs;
    for (const [sparkConf, count] of [
      [confs, 5],
      [off, 1],
    ] as const) {
      const made = submit(inputOf({ sparkConf }, {}));
      assert.equal("planned" in made ? made.planned.executors : made.refused, count);
    }
  });
});
