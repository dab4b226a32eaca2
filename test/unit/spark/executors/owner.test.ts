/**
 * Rekindle as the allocator: the confs of the driver, the source of executor pods, and the refusals with their
 * messages.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { executorOf } from "../../../../shared/spark/executor-pod/builder.ts";
import { decommissionConfs } from "../../../../shared/spark/executors/allocation.ts";
import { obstacles, wantedOf } from "../../../../shared/spark/executors/owner.ts";
import { specSchema } from "../../../../shared/spark/schema/application.ts";
import { confsOfOwn } from "../../../../shared/spark/submission/additions.ts";
import { type Submission, submit } from "../../../../shared/spark/submission/submit.ts";
import { parseProperties } from "../../../proof/compat/properties.ts";
import { creating, good, said } from "../admission/reviews.ts";
import { application, decided, spec } from "../application/fixtures.ts";

const specOf = (changes: object) =>
  specSchema.parse({
    type: "Scala",
    sparkVersion: "4.1.1",
    image: "spark:4.1.1",
    mainClass: "org.example.Pi",
    mainApplicationFile: "local:///opt/pi.jar",
    driver: { memory: "512m" },
    executor: { instances: 12, memory: "512m" },
    ...changes,
  });

const notTracked = { dynamicAllocation: { enabled: true, shuffleTrackingEnabled: false } };
const undecommissioned = { "spark.decommission.enabled": "false" };

const asked = (changes: object, mode = "own") =>
  submit({
    app: { name: "pi", namespace: "jobs", uid: "u-1", annotations: { "rekindle.dev/executors": mode } },
    spec: specOf(changes),
    attempt: 2,
    submittedAt: 0,
    apiServer: "https://kubernetes.default.svc",
  });

const submitted = (changes: object = {}, mode = "own"): Submission => {
  const result = asked(changes, mode);
  assert.ok(!("refused" in result), "refused" in result ? result.refused : "");
  return result;
};

describe("a driver's properties", () => {
  const reuse = "spark.kubernetes.driver.reusePersistentVolumeClaim";
  const plugin = "spark.shuffle.sort.io.plugin.class";
  const volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-1";
  const recovering = {
    [plugin]: "org.apache.spark.shuffle.KubernetesLocalDiskShuffleDataIO",
    [`${volume}.options.claimName`]: "OnDemand",
    [`${volume}.options.storageClass`]: "fast",
    [`${volume}.options.sizeLimit`]: "1Gi",
    [`${volume}.mount.path`]: "/data/spark-x/executor-x",
  };
  const properties = ({ before }: Submission): string => {
    const texts = before.flatMap(({ data }) => Object.entries(data ?? {}));
    return `${texts.find(([name]) => name === "spark.properties")?.[1]}`;
  };

  const rows: readonly (readonly [conf: string, value: string | undefined, changes?: object, mode?: string])[] = [
    ...confsOfOwn.map(([conf, value]) => [conf, value] as const),
    ["spark.executor.instances", "0", { sparkConf: { "spark.executor.instances": "7" } }],
    ["spark.executor.instances", "12", {}, "assist"],
    ["spark.dynamicAllocation.enabled", undefined, {}, "assist"],
    ["spark.executor.maxNumFailures", "120"],
    ["spark.executor.maxNumFailures", "100", { executor: { instances: 2 } }],
    ["spark.executor.maxNumFailures", "5", { sparkConf: { "spark.executor.maxNumFailures": "5" } }],
    ["spark.executor.maxNumFailures", "48", {}, "assist"],
    ["spark.executor.maxNumFailures", "12", { executor: { instances: 2 } }, "assist"],
    ["spark.executor.maxNumFailures", "5", { sparkConf: { "spark.executor.maxNumFailures": "5" } }, "assist"],
    ["spark.executor.maxNumFailures", undefined, { dynamicAllocation: { enabled: true } }, "assist"],
    [
      "spark.executor.maxNumFailures",
      undefined,
      { sparkConf: { "spark.dynamicAllocation.enabled": "true" } },
      "assist",
    ],
    ["spark.executor.failuresValidityInterval", "1h", {}, "assist"],
    [
      "spark.executor.failuresValidityInterval",
      undefined,
      { sparkConf: { "spark.executor.maxNumFailures": "5" } },
      "assist",
    ],
    [
      "spark.executor.failuresValidityInterval",
      "2h",
      { sparkConf: { "spark.executor.failuresValidityInterval": "2h" } },
      "assist",
    ],
    ["spark.kubernetes.driverEnv.REKINDLE_EPOCH", "2"],
    ["spark.executorEnv.REKINDLE_EPOCH", "2", { sparkConf: { "spark.executorEnv.REKINDLE_EPOCH": "9" } }],
    ["spark.executorEnv.REKINDLE_EPOCH", "2", {}, "assist"],
    ["spark.kubernetes.driverEnv.REKINDLE_APP_UID", "u-1", {}, "assist"],
    ["spark.kubernetes.executor.deleteOnTermination", "false"],
    ["spark.dynamicAllocation.minExecutors", "0", { sparkConf: { "spark.dynamicAllocation.minExecutors": "4" } }],
    ["spark.dynamicAllocation.minExecutors", "0", { dynamicAllocation: { enabled: true, minExecutors: 4 } }],
    ["spark.dynamicAllocation.initialExecutors", "0", { dynamicAllocation: { enabled: true, initialExecutors: 4 } }],
    ["spark.dynamicAllocation.maxExecutors", "9", { dynamicAllocation: { enabled: true, maxExecutors: 9 } }],
    ["spark.dynamicAllocation.shuffleTracking.enabled", "true", notTracked],
    ["spark.executor.instances", "0", { dynamicAllocation: { enabled: true } }],
    ["spark.executor.maxNumFailures", "200", { dynamicAllocation: { enabled: true, maxExecutors: 20 } }],
    ...decommissionConfs.map(([conf, value]) => [conf, value, { dynamicAllocation: { enabled: true } }] as const),
    ...decommissionConfs.map(([conf]) => [conf, undefined] as const),
    ...decommissionConfs.map(
      ([conf]) => [conf, undefined, { dynamicAllocation: { enabled: true } }, "assist"] as const,
    ),
    ["spark.decommission.enabled", "false", { dynamicAllocation: { enabled: true }, sparkConf: undecommissioned }],
    [reuse, "true", { sparkConf: recovering }],
    [reuse, undefined, { sparkConf: recovering }, "assist"],
    [reuse, undefined, { sparkConf: { ...recovering, [plugin]: "org.example.Mine" } }],
    [reuse, undefined, { sparkConf: { [plugin]: recovering[plugin] } }],
    [reuse, undefined, { sparkConf: { ...recovering, [reuse.replace("reuse", "own")]: "false" } }],
    [reuse, "false", { sparkConf: { ...recovering, [reuse]: "false" } }],
  ];
  for (const [conf, value, changes, mode] of rows)
    test(`have ${conf}=${value} for ${JSON.stringify(changes ?? {})}, ${mode ?? "own"}`, () => {
      assert.equal(parseProperties(properties(submitted(changes, mode)))[conf], value);
    });
});

describe("a spec that does not go with own", () => {
  const rows: readonly (readonly [part: string, changes: object])[] = [
    ["streaming", { sparkConf: { "spark.streaming.dynamicAllocation.enabled": "true" } }],
    ["version", { sparkVersion: "4.7.0" }],
    ["version", { sparkVersion: "3.4.1" }],
    ["authenticate", { sparkConf: { "spark.authenticate": "true" } }],
    ["allocator", { sparkConf: { "spark.kubernetes.allocation.pods.allocator": "statefulset" } }],
    ["spark.ui.enabled", { sparkConf: { "spark.ui.enabled": "false" } }],
    ["spark.ui.port", { sparkConf: { "spark.ui.port": "0" } }],
    ["deleteOnTermination", { executor: { instances: 1, deleteOnTermination: true } }],
    ["featureSteps", { sparkConf: { "spark.kubernetes.executor.pod.featureSteps": "org.example.Mine" } }],
  ];
  for (const [part, changes] of rows)
    test(`${part}: ${JSON.stringify(changes)} is refused, and accepted without the annotation`, () => {
      const result = asked(changes);
      assert.ok("refused" in result, "accepted");
      assert.match(result.refused, /metadata\.annotations\[rekindle\.dev\/executors\]: own cannot be combined with/);
      assert.ok(result.refused.includes(part), result.refused);
      assert.ok(!("refused" in asked(changes, "assist")));
    });

  test("has a row for each obstacle", () => {
    const texts = rows.map(([, changes]) => JSON.stringify(asked(changes)));
    for (const { what } of obstacles)
      assert.ok(
        texts.some((text) => text.includes(what)),
        what,
      );
  });

  const fine: readonly object[] = [
    { sparkConf: { "spark.authenticate": "true", "spark.authenticate.secret.file": "/etc/secret" } },
    { sparkConf: { "spark.ui.enabled": "true", "spark.kubernetes.allocation.pods.allocator": "direct" } },
    { sparkVersion: "3.5.8" },
  ];
  for (const changes of fine) test(`does not include ${JSON.stringify(changes)}`, () => void submitted(changes));
});

describe("an executor of a submission", () => {
  test("is built from the submission's values, with the label of its attempt", () => {
    const { executors, driver } = submitted();
    assert.ok(executors !== undefined);
    const made = executorOf({
      ...executors,
      executorId: "1001",
      driver: { name: driver.metadata.name, uid: "d-1", ip: "10.0.0.7" },
    });
    assert.ok(!("refused" in made), "refused" in made ? made.refused : "");
    const { labels, name, ownerReferences } = made.pod.metadata;
    assert.match(name, /^pi-[0-9a-f]{16}-exec-1001$/);
    assert.equal(labels?.["rekindle.dev/attempt"], "2");
    assert.equal(labels?.["spark-exec-id"], "1001");
    assert.equal(labels?.["sparkoperator.k8s.io/app-name"], "pi");
    assert.equal(labels?.["spark-app-selector"], driver.metadata.labels?.["spark-app-selector"]);
    assert.deepEqual(ownerReferences?.map(({ uid }) => uid).sort(), ["d-1", "u-1"]);
    assert.deepEqual(made.claims, []);
  });

  test("is not defined for a run of the driver's own allocator", () => {
    assert.equal(submitted({}, "assist").executors, undefined);
  });
});

describe("the number of desired executors", () => {
  const rows: readonly (readonly [wanted: number, changes: object])[] = [
    [12, {}],
    [1, { executor: {} }],
    [7, { executor: {}, sparkConf: { "spark.executor.instances": "7" } }],
    [12, { sparkConf: { "spark.executor.instances": "7" } }],
    [0, { executor: {}, sparkConf: { "spark.executor.instances": "many" } }],
  ];
  for (const [wanted, changes] of rows)
    test(`${JSON.stringify(changes)}: ${wanted}`, () => assert.equal(wantedOf(specOf(changes)), wanted));
});

describe("confs of Spark's allocator that own reads differently", () => {
  const batch = "spark.kubernetes.allocation.batch.size";
  const rows: readonly (readonly [sparkConf: Readonly<Record<string, string>>, says: RegExp | undefined])[] = [
    [{ [batch]: "5000" }, /batch\.size: 5000 executors are more than Rekindle creates in one batch: it creates 1000$/],
    [{ [batch]: "1000" }, undefined],
  ];
  for (const [sparkConf, says] of rows)
    test(`${JSON.stringify(sparkConf)}: ${says === undefined ? "no" : "a"} warning in admission and step`, () => {
      const notes = submitted({ sparkConf }).notes();
      const annotations = { "rekindle.dev/executors": "own" };
      const door = said(creating("SparkApplication", { ...good, sparkConf }, { name: "app", annotations }));
      const object = application({ metadata: { annotations }, spec: { ...spec, sparkConf } });
      const events = decided({ object })
        .plan.stages.flat()
        .flatMap((effect) =>
          effect.do === "record" && effect.reason === "RekindleConfIgnored" ? [effect.message] : [],
        );
      if (says === undefined) assert.deepEqual([notes, door, events], [[], "", []]);
      else for (const text of [...notes, door.replace("warning: ", ""), ...events]) assert.match(text, says);
      assert.equal(events.length, notes.length);
      assert.deepEqual(submitted({ sparkConf }, "assist").notes(), []);
    });

  test("an obstacle for own leads to a warning in admission, too", () => {
    const annotations = { "rekindle.dev/executors": "own" };
    const silent = { ...good, sparkConf: { "spark.ui.enabled": "false" } };
    const door = said(creating("SparkApplication", silent, { name: "app", annotations }));
    assert.match(
      door,
      /^warning: its submission will fail: metadata\.annotations\[rekindle\.dev\/executors\]: own cannot be combined/,
    );
  });
});
