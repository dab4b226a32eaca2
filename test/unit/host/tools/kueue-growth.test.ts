/**
 * Applications with Kueue's queue label whose executors follow their driver's demand: beyond the executors that Kueue
 * admitted with the application, each is granted by a growth. At each creation of a pod, no more live than have quota.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Gauge } from "../../../../shared/simulator/nodes/script.ts";
import { crds } from "../../../support/crds.ts";
import { flavorOf, kueueCrds } from "../../../support/kueue.ts";
import { admissions, eviction, ownWorkload, type StatusWrite, usedBy } from "../../../support/kueue-queue.ts";
import { application } from "../objects.ts";
import { itOnStand, type Stand } from "../stand.ts";
import { toolOn, within } from "./client.ts";

const workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
const base = 2;

const write = async (stand: Stand, { workload, status }: StatusWrite): Promise<void> => {
  const answer = await toolOn(
    stand,
    "kueue",
  )({
    method: "PATCH",
    path: `${workloads}/${workload.metadata.name}/status`,
    type: "application/merge-patch+json",
    body: { status },
  });
  assert.equal(answer.status, 200, answer.text);
};

const growthsIn = (stand: Stand): readonly Stored[] =>
  stand.all("Workload").filter(({ metadata }) => metadata.name.startsWith("app-grow-"));

const executorsIn = (stand: Stand): readonly Stored[] =>
  stand
    .all("Pod")
    .filter(({ metadata, status }) => metadata.labels?.["spark-role"] === "executor" && !hasEnded(status));

const hasEnded = (status: unknown): boolean => ["Succeeded", "Failed"].includes(String(within(status, "phase")));

const staying = (stand: Stand): number =>
  executorsIn(stand).filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;

const used = (stand: Stand): number => stand.all("Workload").reduce((sum, one) => sum + usedBy(one), 0);

/** Blames each executor that is created beyond the quota that is in use. */
const watched = (stand: Stand): readonly string[] => {
  const blamed: string[] = [];
  stand.simulator.subscribe(({ type, object }) => {
    if (type !== "ADDED" || object.kind !== "Pod" || object.metadata.labels?.["spark-role"] !== "executor") return;
    const [living, quota] = [executorsIn(stand).length, used(stand)];
    if (living > quota) blamed.push(`${object.metadata.name}: ${living} executors, quota for ${quota}`);
  });
  return blamed;
};

/** The Events about what is granted, in the order of their creations. */
const grantsTold = (stand: Stand): readonly unknown[] =>
  stand
    .all("Event")
    .filter((one) => ["GrowthGranted", "GrowthEnded"].includes(String(within(one, "reason"))))
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map((one) => within(one, "message"));

const isFlavor = (key: string): boolean => ["spot", "reserved"].includes(key);

type Queue = { quota: number; readonly reserved?: number };

/** Lets time pass, in which Kueue admits what fits, until the condition holds. */
const until = async (stand: Stand, queue: Queue, what: string, isSo: () => boolean): Promise<void> => {
  for (let second = 0; second < 240; second += 1) {
    if (isSo()) return;
    for (const one of admissions(
      stand.all("Workload"),
      { spot: queue.quota, reserved: queue.reserved ?? 0 },
      stand.simulator.clock.now(),
    ))
      await write(stand, one);
    await stand.turn(1_000);
  }
  assert.fail(`${what}: ${staying(stand)} executors, ${used(stand)} with quota, ${growthsIn(stand).length} growths`);
};

/** An application that Kueue has admitted with two executors, and whose driver runs. */
const opened = async (stand: Stand, queue: Queue): Promise<void> => {
  await stand.host();
  const spec = {
    suspend: true,
    executor: { instances: base, cores: 1, memory: "512m" },
    sparkConf: { "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "20s" },
  };
  const labels = { "kueue.x-k8s.io/queue-name": "team-a" };
  const annotations = { "rekindle.dev/executors": "own", "rekindle.dev/executor-leave-grace": "20s" };
  await stand.create(application("app", { labels, annotations, spec }));
  const made = stand.get("SparkApplication", "app") ?? assert.fail("there is no application");
  await stand.create(ownWorkload(made, base));
  await until(stand, queue, "it is admitted", () => used(stand) === base);
  const nodes = queue.reserved === undefined ? {} : { executor: onSpot };
  await stand.patch("SparkApplication", "app", { spec: { suspend: false, ...nodes } });
};

/** As its integration does, Kueue writes the nodes of the base's flavor into the spec. */
const onSpot = {
  nodeSelector: { "cloud.example/flavour": "spot" },
  tolerations: [{ key: "spot", operator: "Exists", effect: "NoSchedule" }],
};

const state = (stand: Stand): unknown =>
  within(stand.get("SparkApplication", "app"), "status", "applicationState", "state");

const needing = (gauge: readonly (readonly [number, Gauge])[], jobMs = 900_000, busyMs = 0) => ({
  crds: [...crds, ...kueueCrds],
  scripts: { app: [{ jobMs, gauge, executors: { "*": { busyMs } } }] },
});

const it = itOnStand(needing([[0, 6]]));

describe("an application that Kueue admits, and whose driver needs more executors", () => {
  itOnStand(needing([[0, 8]], 200_000))(
    "grows as its queue has room, in part where it has less, and gives all quota back at its end",
    async (stand) => {
      const queue = { quota: 5 };
      const blamed = watched(stand);
      await opened(stand, queue);
      await until(stand, queue, "it has as many as fit", () => staying(stand) === 5);
      const askedAt = Math.min(...growthsIn(stand).map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "")));
      const ms = stand.simulator.clock.now() - askedAt;
      assert.ok(ms <= 3_000, `a growth that is admitted at once has its executors after ${ms} ms`);
      await stand.turn(30_000);
      const [first] = growthsIn(stand);
      assert.deepEqual(within(first, "metadata", "ownerReferences"), [
        {
          ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload", name: "sparkapplication-app-1a2b3" },
          uid: stand.get("Workload", "sparkapplication-app-1a2b3")?.metadata.uid,
        },
      ]);
      assert.equal(within(first, "spec", "priority"), 7, "it is ranked as the application");
      assert.equal(growthsIn(stand).filter((one) => usedBy(one) === 0).length, 1, "one growth waits");
      queue.quota = 20;
      await until(stand, queue, "it has as many as it needs", () => staying(stand) === 8);
      await until(stand, queue, "it has completed", () => state(stand) === "COMPLETED");
      await until(stand, queue, "no growth is left", () => growthsIn(stand).length === 0);
      assert.deepEqual(blamed, []);
    },
  );

  it("grows on the nodes of another flavor, and creates no executor for it while that flavor cannot be read", async (stand) => {
    const queue = { quota: base, reserved: 4 };
    const blamed = watched(stand);
    await stand.create(flavorOf("spot"));
    await opened(stand, queue);
    await until(stand, queue, "its growth is admitted", () => used(stand) === 6);
    await stand.turn(30_000);
    assert.equal(staying(stand), base, "no executor is created before its nodes are known");
    await stand.create(flavorOf("reserved"));
    await until(stand, queue, "it has grown", () => staying(stand) === 6);
    const [template] = Object(within(growthsIn(stand)[0], "spec", "podSets"));
    const asked = within(template, "template", "spec");
    assert.deepEqual([within(asked, "nodeSelector"), within(asked, "tolerations")], [undefined, undefined]);
    const placed = executorsIn(stand).map(({ metadata, spec }) => [
      metadata.annotations?.["rekindle.dev/kueue-flavors"],
      within(spec, "nodeSelector", "cloud.example/flavour"),
      Object(within(spec, "tolerations"))
        .map(({ key }: { readonly key: string }) => key)
        .filter(isFlavor),
    ]);
    const [first, last] = [
      [undefined, "spot", ["spot"]],
      ["reserved", "reserved", ["reserved"]],
    ];
    assert.deepEqual(placed, [first, first, last, last, last, last]);
    assert.deepEqual(blamed, []);
  });

  itOnStand(needing([[0, 6]], 900_000, 900_000))(
    "loses the executors of an evicted growth, also busy ones, and no others; grows again when its quota is back",
    async (stand) => {
      const queue = { quota: 20 };
      const blamed = watched(stand);
      await opened(stand, queue);
      await until(stand, queue, "it has grown", () => staying(stand) === 6);
      const driver = stand.get("Pod", "app-driver")?.metadata.uid;
      queue.quota = base;
      const [growth] = growthsIn(stand);
      await write(stand, eviction(growth ?? assert.fail("no growth"), stand.simulator.clock.now()));
      const left = (): boolean => executorsIn(stand).length === base;
      await until(stand, queue, "the growth's executors have left", () => staying(stand) === base);
      if (!left()) assert.equal(used(stand), 6, "quota is given back only when they have ended");
      await until(stand, queue, "its quota is given back", () => used(stand) === base);
      assert.equal(executorsIn(stand).length, base);
      assert.equal(stand.get("Pod", "app-driver")?.metadata.uid, driver);
      assert.equal(state(stand), "RUNNING");
      const told = stand.all("Event").filter((one) => within(one, "reason") === "ExecutorsEvicted");
      assert.equal(told.length, 1, "an event tells of the eviction");
      queue.quota = 20;
      await until(stand, queue, "it has grown again", () => staying(stand) === 6);
      assert.deepEqual(grantsTold(stand), [
        ...["Kueue has granted 4 more executors: 6 in all", "the grant of 4 executors has ended: 2 are left"],
        "Kueue has granted 4 more executors: 6 in all",
      ]);
      assert.deepEqual(blamed, []);
    },
  );

  itOnStand(
    needing([
      [0, 6],
      [40_000, 3],
      [80_000, 1],
      [140_000, 6],
      [180_000, 1],
    ]),
  )(
    "changes the growth that waits in place as its need moves, deletes it when the need has gone, and shrinks by growths",
    async (stand) => {
      const queue = { quota: base };
      await opened(stand, queue);
      const countOf = (): unknown => Object(within(growthsIn(stand)[0], "spec", "podSets"))[0]?.count;
      await until(stand, queue, "it asks for four more", () => countOf() === 4);
      const uid = growthsIn(stand)[0]?.metadata.uid;
      await until(stand, queue, "it asks for one more", () => countOf() === 1);
      assert.equal(growthsIn(stand)[0]?.metadata.uid, uid);
      await until(stand, queue, "it asks for none", () => growthsIn(stand).length === 0);
      queue.quota = 20;
      await until(stand, queue, "it has grown", () => staying(stand) === 6 && used(stand) === 6);
      await until(stand, queue, "it has shrunk", () => staying(stand) <= base && used(stand) === base);
      assert.equal(growthsIn(stand).length, 0);
    },
  );

  it("keeps its base, and creates no growth, while Kueue refuses to answer; a growth that somebody deletes is evicted", async (stand) => {
    const queue = { quota: 20 };
    const blamed = watched(stand);
    await opened(stand, queue);
    const failing = {
      kind: "Status",
      status: "Failure",
      reason: "InternalError",
      message: "failed calling webhook",
    };
    stand.fault(({ method, path }) =>
      method === "POST" && path === workloads ? { status: 500, headers: {}, body: JSON.stringify(failing) } : undefined,
    );
    await until(stand, queue, "it has its base", () => staying(stand) === base);
    await stand.turn(60_000);
    assert.equal(staying(stand), base);
    stand.fault(undefined);
    await until(stand, queue, "it has grown", () => staying(stand) === 6);
    queue.quota = base;
    await stand.remove("Workload", growthsIn(stand)[0]?.metadata.name ?? "");
    await until(stand, queue, "it has its base again", () => executorsIn(stand).length === base);
    assert.deepEqual(blamed, []);
  });
});
