/** Executors of an application of `spark.apache.org` that Rekindle creates: `rekindle.dev/executors: own`. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isRecord } from "../../../../shared/core/json.ts";
import { confs, idsIn, livingIn, openOwn, tellsOf } from "./own.ts";
import { pathOf } from "./stand.ts";

const merge = "application/merge-patch+json";

const executorsOf = ({ simulator }: ReturnType<typeof openOwn>) =>
  simulator.store.list("pods").filter(({ metadata: { labels } }) => labels?.["spark-role"] === "executor");

describe("own executors", () => {
  test("are as many as the conf states, with the labels of Apache's operator, owned by their driver and the application", async () => {
    const stand = openOwn();
    await stand.run(6);
    assert.deepEqual(idsIn(stand), ["1001", "1002"]);
    assert.equal(stand.states()?.at(-1)?.summary, "RunningHealthy");
    const [first] = executorsOf(stand);
    assert.equal(first?.metadata.name, "pi-0-exec-1001");
    const labels = first?.metadata.labels ?? {};
    assert.deepEqual(
      ["spark.operator/name", "spark.operator/spark-app-name", "rekindle.dev/attempt", "spark-app-selector"].map(
        (name) => labels[name],
      ),
      ["spark-kubernetes-operator", "pi", "0", "pi-0"],
    );
    const owners = first?.metadata.ownerReferences ?? [];
    assert.deepEqual(
      owners.map(({ apiVersion, kind, name }) => `${apiVersion} ${kind} ${name}`),
      ["v1 Pod pi-0-driver", "spark.apache.org/v1 SparkApplication pi"],
    );
  });

  test("have the pod template of the spec", async () => {
    const executorSpec = { podTemplateSpec: { spec: { priorityClassName: "batch", containers: [{ name: "x" }] } } };
    const stand = openOwn({ spec: { executorSpec } });
    await stand.run(6);
    const [first] = executorsOf(stand);
    assert.equal(isRecord(first?.["spec"]) ? first["spec"]["priorityClassName"] : undefined, "batch");
  });

  test("are replaced under a new id, and the loss is told with its reason", async () => {
    const stand = openOwn();
    await stand.run(6);
    stand.killExecutor();
    await stand.run(4);
    assert.deepEqual(livingIn(stand), ["1002", "1003"]);
    const [message = "", ...more] = tellsOf(stand, "ExecutorLost");
    assert.match(message, /^Executor 1001 \(pod pi-0-exec-1001, node \S+\) was lost: failed \(exit 1/);
    assert.deepEqual(more, []);
  });

  test("that do not start are deleted after their time, and replaced", async () => {
    const stand = openOwn({
      annotations: { "rekindle.dev/executor-pending-timeout": "20s" },
      script: { hangs: true, executors: { "1001": { pull: "fails" } } },
    });
    await stand.run(20);
    assert.deepEqual(livingIn(stand), ["1002", "1003"]);
    assert.match(tellsOf(stand, "ExecutorLost").join(), /^Executor 1001 .* was lost: neverStarted/);
  });

  test("become more when the conf changes, without another driver", async () => {
    const stand = openOwn();
    await stand.run(6);
    stand.request("PATCH", pathOf(), { spec: { sparkConf: { "spark.executor.instances": "3" } } }, merge);
    await stand.run(3);
    assert.deepEqual(livingIn(stand), ["1001", "1002", "1003"]);
    assert.deepEqual(stand.drivers, ["pi-0-driver"]);
  });

  test("of a spec that has changed since are not created beside its driver, and an Event says so", async () => {
    const stand = openOwn();
    await stand.run(6);
    const executorSpec = { podTemplateSpec: { spec: { priorityClassName: "late", containers: [{ name: "x" }] } } };
    stand.request("PATCH", pathOf(), { spec: { executorSpec } }, merge);
    stand.killExecutor();
    await stand.run(4);
    assert.deepEqual(livingIn(stand), ["1002"]);
    assert.match(tellsOf(stand, "ExecutorsHeld").join(), /none is created until the next attempt/);
    stand.request("PATCH", pathOf(), { spec: { executorSpec: null } }, merge);
    await stand.run(3);
    assert.deepEqual(livingIn(stand), ["1002", "1003"]);
  });

  test("are created also when the annotation is removed while the driver runs, until the next attempt", async () => {
    const stand = openOwn();
    await stand.run(6);
    stand.request("PATCH", pathOf(), { metadata: { annotations: { "rekindle.dev/executors": null } } }, merge);
    stand.killExecutor();
    await stand.run(4);
    assert.deepEqual(livingIn(stand), ["1002", "1003"]);
  });

  test("go on when the record is lost, with ids that no executor had", async () => {
    const stand = openOwn();
    await stand.run(6);
    const records = "/apis/rekindle.dev/v1alpha1/namespaces/default/checkpoints";
    const path = `${records}/apachesparkapplication.pi`;
    assert.equal(stand.request("DELETE", path), 200);
    stand.killExecutor();
    await stand.run(5);
    const [kept, ...others] = livingIn(stand);
    assert.equal(kept, "1002");
    assert.deepEqual(
      others.map((id) => Number(id) > 11_000),
      [true],
    );
  });

  test("end with their driver, where its pod is kept", async () => {
    const stand = openOwn({
      spec: { applicationTolerations: { resourceRetainPolicy: "Always" } },
      script: { jobMs: 6_000, executors: { "1002": { pull: "fails" } } },
    });
    await stand.run(20);
    assert.equal(stand.states()?.at(-1)?.summary, "TerminatedWithoutReleaseResources");
    assert.deepEqual(livingIn(stand), []);
    assert.ok(stand.left().includes("pods pi-0-driver"));
  });

  test("of the next attempt have ids of their own", async () => {
    const stand = openOwn({
      spec: {
        applicationTolerations: { restartConfig: { restartPolicy: "OnFailure", restartBackoffMillis: 1_000 } },
      },
      scripts: [{ jobMs: 4_000, exitCode: 1 }, { hangs: true }],
    });
    await stand.run(30);
    assert.deepEqual(stand.drivers, ["pi-0-driver", "pi-1-driver"]);
    assert.deepEqual(livingIn(stand), ["1003", "1004"]);
  });

  test("of a dynamic application follow its driver's demand within its bounds", async () => {
    const bounds = { "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "3" };
    const stand = openOwn({
      sparkConf: bounds,
      script: {
        hangs: true,
        gauge: [
          [0, 2],
          [30_000, 40],
        ],
        executors: { "*": { busyMs: 600_000 } },
      },
    });
    await stand.run(8);
    assert.equal(livingIn(stand).length, 2);
    await stand.run(20);
    assert.equal(livingIn(stand).length, 3);
  });
});

describe("own executors are refused with the reason", () => {
  const rows: readonly (readonly [what: string, sparkConf: Readonly<Record<string, string>>, message: RegExp])[] = [
    [
      "the operator's own spark.authenticate",
      { "spark.authenticate": "" },
      /spark\.authenticate without .*true where spec\.sparkConf does not set it/,
    ],
    [
      "the user's spark.authenticate",
      { "spark.authenticate": "true" },
      /spark\.authenticate without spark\.authenticate\.secret\.file: .*$/,
    ],
    [
      "another allocator",
      { "spark.kubernetes.allocation.pods.allocator": "statefulset" },
      /another allocator than Rekindle is named/,
    ],
    [
      "executors that their driver deletes",
      { "spark.kubernetes.executor.deleteOnTermination": "true" },
      /deleteOnTermination/,
    ],
  ];
  for (const [what, sparkConf, message] of rows)
    test(what, async () => {
      const given = Object.fromEntries(
        Object.entries<string>({ ...confs, ...sparkConf }).filter(([, value]) => value !== ""),
      );
      const stand = openOwn({ whole: given });
      await stand.run(4);
      assert.deepEqual(stand.drivers, []);
      assert.match(stand.messages().join(), message);
    });

  test("a template that no executor can be built from", async () => {
    const stand = openOwn({ sparkConf: { "spark.kubernetes.executor.label.spark-role": "mine" } });
    await stand.run(4);
    assert.deepEqual(stand.drivers, []);
    assert.match(stand.messages().join(), /Executor label spark-role is reserved/);
  });
});
