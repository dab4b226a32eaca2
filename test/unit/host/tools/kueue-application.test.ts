/** Applications whose annotation names a LocalQueue: Kueue admits their base by a Workload of Rekindle, also a part of it. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { crds } from "../../../support/crds.ts";
import { evicted, flavorOf, kueueCrds, reserved, reservedInPart } from "../../../support/kueue.ts";
import { application } from "../objects.ts";
import { itOnStand, type Stand } from "../stand.ts";
import { toolOn, within } from "./client.ts";

const workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";

const baseIn = (stand: Stand): Stored | undefined =>
  stand.all("Workload").find(({ metadata }) => metadata.name.startsWith("app-base-"));

const growthsIn = (stand: Stand): readonly Stored[] =>
  stand.all("Workload").filter(({ metadata }) => metadata.name.startsWith("app-grow-"));

const podsIn = (stand: Stand, role: string): readonly Stored[] =>
  stand
    .all("Pod")
    .filter(({ metadata, status }) => metadata.labels?.["spark-role"] === role && !hasEnded(within(status, "phase")));

const hasEnded = (phase: unknown): boolean => ["Succeeded", "Failed"].includes(String(phase));

const state = (stand: Stand): unknown =>
  within(stand.get("SparkApplication", "app"), "status", "applicationState", "state");

const conditionOf = (workload: Stored | undefined, type: string): unknown => {
  const conditions = within(workload, "status", "conditions");
  return (Array.isArray(conditions) ? conditions : []).find((one) => one.type === type)?.status;
};

type Status = (workload: Stored, now: number) => object;

/** Writes the status of the base's Workload as Kueue does. */
const write = async (stand: Stand, status: Status): Promise<void> => {
  const workload = baseIn(stand) ?? assert.fail("there is no Workload");
  const answer = await toolOn(
    stand,
    "kueue",
  )({
    method: "PATCH",
    path: `${workloads}/${workload.metadata.name}/status`,
    type: "application/merge-patch+json",
    body: { status: status(workload, stand.simulator.clock.now()) },
  });
  assert.equal(answer.status, 200, answer.text);
};

/** Applies an application that begins with four executors, and may begin with one. */
const applied = async (stand: Stand, more: object = {}, labels: Record<string, string> = {}): Promise<void> => {
  await stand.create(flavorOf("spot"));
  await stand.host();
  const sparkConf = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.dynamicAllocation.initialExecutors": "4",
    "spark.dynamicAllocation.maxExecutors": "4",
  };
  const annotations = { "rekindle.dev/executors": "own", "rekindle.dev/kueue-queue": "team-a" };
  await stand.create(application("app", { annotations, labels, spec: { sparkConf, ...more } }));
};

/** The same, once its Workload waits. */
const queued = async (stand: Stand): Promise<void> => {
  await applied(stand);
  await stand.until("its Workload exists", () => baseIn(stand) !== undefined);
};

const classLabel = "kueue.x-k8s.io/priority-class";

const rankIn = (stand: Stand): readonly unknown[] => [
  within(baseIn(stand), "spec", "priority"),
  within(baseIn(stand), "spec", "priorityClassRef"),
];

const priorityClass = (name: string, value: number) => ({
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "WorkloadPriorityClass", metadata: { name }, value },
});

const rankBy = (name: string, priority: number): readonly unknown[] => [
  priority,
  { group: "kueue.x-k8s.io", kind: "WorkloadPriorityClass", name },
];

const options = {
  crds: [...crds, ...kueueCrds],
  nodes: [{ name: "n1", labels: { "cloud.example/flavour": "spot" } }],
  scripts: { app: [{ jobMs: 300_000, gauge: [[0, 4] as const], executors: { "*": { busyMs: 0 } } }] },
};

const it = itOnStand(options);

describe("an application whose annotation names a LocalQueue", () => {
  it("has no pod before Kueue admits its base, begins with the executors that are admitted, and grows to the rest", async (stand) => {
    await queued(stand);
    await stand.turn(60_000);
    assert.equal(podsIn(stand, "driver").length, 0);
    assert.equal(state(stand), "SUSPENDED");
    const workload = baseIn(stand);
    assert.equal(within(workload, "spec", "queueName"), "team-a");
    const [driver, executor] = Object(within(workload, "spec", "podSets"));
    assert.deepEqual([driver.name, driver.count, driver.minCount], ["driver", 1, undefined]);
    assert.deepEqual([executor.name, executor.count, executor.minCount], ["executor", 4, 1]);
    assert.equal(workload?.metadata.ownerReferences?.[0]?.controller, true);
    await write(stand, (one, now) => reservedInPart(one, "spot", now));
    await stand.until("its driver runs", () => podsIn(stand, "driver").length === 1);
    await stand.until("its growth waits", () => growthsIn(stand).length === 1);
    await stand.turn(30_000);
    assert.equal(podsIn(stand, "executor").length, 1);
    assert.equal(Object(within(growthsIn(stand)[0], "spec", "podSets"))[0].count, 3);
    assert.equal(conditionOf(baseIn(stand), "PodsReady"), "True", "the part that is admitted runs");
    for (const role of ["driver", "executor"])
      for (const pod of podsIn(stand, role))
        assert.deepEqual(within(pod, "spec", "nodeSelector"), { "cloud.example/flavour": "spot" });
  });

  it("loses its run with its quota, gives the quota back when no pod is left, runs again when it is admitted, and finishes its Workload", async (stand) => {
    await queued(stand);
    await write(stand, (one, now) => reserved(one, "spot", now, true));
    await stand.until("it runs", () => podsIn(stand, "executor").length === 4);
    await stand.until("its pods are ready", () => conditionOf(baseIn(stand), "PodsReady") === "True");
    assert.equal(podsIn(stand, "executor").filter(({ status }) => within(status, "phase") === "Running").length, 4);
    let releasedWithPods = false;
    stand.simulator.subscribe(({ object }) => {
      if (object.kind === "Workload" && within(object, "status", "admission") === undefined)
        releasedWithPods ||= podsIn(stand, "executor").length + podsIn(stand, "driver").length > 0;
    });
    await write(stand, (one, now) => evicted(one, "Preempted", now));
    await stand.until("its quota is released", () => conditionOf(baseIn(stand), "QuotaReserved") === "False");
    assert.equal(releasedWithPods, false);
    assert.equal(conditionOf(baseIn(stand), "PodsReady"), "False");
    assert.equal(state(stand), "SUSPENDED");
    await stand.turn(60_000);
    assert.equal(podsIn(stand, "driver").length, 0);
    await write(stand, (one, now) => reserved(one, "spot", now, true));
    await stand.until("it runs again", () => podsIn(stand, "executor").length === 4);
    await stand.until("it has completed", () => state(stand) === "COMPLETED", 900_000);
    await stand.until("its Workload is finished", () => conditionOf(baseIn(stand), "Finished") === "True");
  });

  it("is ranked by the class of its label: it waits for a class that is missing, and is queued anew with another one while it waits", async (stand) => {
    await applied(stand, {}, { [classLabel]: "urgent" });
    await stand.turn(60_000);
    assert.equal(baseIn(stand), undefined);
    const record = stand.get("Checkpoint", stand.all("Checkpoint")[0]?.metadata.name ?? "");
    assert.match(JSON.stringify(record), /WorkloadPriorityClass urgent is not found/);
    await stand.create(priorityClass("urgent", 70));
    await stand.create(priorityClass("calm", 3));
    await stand.until("its Workload exists", () => baseIn(stand) !== undefined);
    assert.deepEqual(rankIn(stand), rankBy("urgent", 70));
    await stand.patch("SparkApplication", "app", { metadata: { labels: { [classLabel]: "calm" } } });
    await stand.until("it is queued anew", () => rankIn(stand)[0] === 3);
    await write(stand, (one, now) => reservedInPart(one, "spot", now));
    await stand.until("its growth waits", () => growthsIn(stand).length === 1);
    assert.equal(within(growthsIn(stand)[0], "spec", "priority"), 3);
    const uid = baseIn(stand)?.metadata.uid;
    await stand.patch("SparkApplication", "app", { metadata: { labels: { [classLabel]: "urgent" } } });
    await stand.turn(60_000);
    assert.deepEqual([baseIn(stand)?.metadata.uid, podsIn(stand, "driver").length], [uid, 1]);
  });

  it("is ranked by the priority class of its pods where no label names one", async (stand) => {
    const metadata = { name: "batch" };
    await stand.create({ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata, value: 9 });
    await applied(stand, { driver: { cores: 1, memory: "512m", priorityClassName: "batch" } });
    await stand.until("its Workload exists", () => baseIn(stand) !== undefined);
    assert.deepEqual(rankIn(stand), [9, { group: "scheduling.k8s.io", kind: "PriorityClass", name: "batch" }]);
    await stand.turn(60_000);
    assert.equal(baseIn(stand)?.metadata.generation, 1);
  });

  it("whose submission is refused fails with the reason, and asks for no quota until its spec is mended", async (stand) => {
    await applied(stand, { sparkVersion: "2.4.8", driver: { cores: 1, memory: "512m" } });
    await stand.until("it has failed", () => state(stand) === "FAILED");
    const { errorMessage } = Object(within(stand.get("SparkApplication", "app"), "status", "applicationState"));
    assert.match(errorMessage, /a Spark version whose rules are not known here/);
    assert.equal(baseIn(stand), undefined);
    await stand.patch("SparkApplication", "app", { spec: { sparkVersion: "4.1.1" } });
    await stand.until("its Workload exists", () => baseIn(stand) !== undefined);
    await stand.turn(60_000);
    assert.deepEqual([state(stand), podsIn(stand, "driver").length], ["SUSPENDED", 0]);
  });

  it("has no Workload while its user suspends it, and another one once it asks for other numbers", async (stand) => {
    await queued(stand);
    await stand.patch("SparkApplication", "app", { spec: { suspend: true } });
    await stand.until("it has no Workload", () => baseIn(stand) === undefined);
    await stand.patch("SparkApplication", "app", { spec: { suspend: false, executor: { instances: 3 } } });
    await stand.patch("SparkApplication", "app", {
      spec: { sparkConf: { "spark.dynamicAllocation.initialExecutors": "2" } },
    });
    const countOf = (): unknown => Object(within(baseIn(stand), "spec", "podSets"))[1]?.count;
    await stand.until("it asks for three", () => countOf() === 3);
    await write(stand, (one, now) => reserved(one, "spot", now, true));
    await stand.until("it runs", () => podsIn(stand, "executor").length === 3);
    await stand.remove("Workload", baseIn(stand)?.metadata.name ?? "");
    await stand.until("its run has ended", () => podsIn(stand, "driver").length === 0);
    await stand.until("there is another", () => baseIn(stand) !== undefined);
  });
});
