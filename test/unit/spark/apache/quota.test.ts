/** Applications of `spark.apache.org` that Kueue admits: what they ask for, when they begin, and when their quota is given back. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { DriverScript } from "../../../../shared/simulator/nodes/script.ts";
import { evicted, flavorOf, kueueCrds, reserved } from "../../../support/kueue.ts";
import type { Fields } from "./fixtures.ts";
import { confs, idsIn, tellsOf } from "./own.ts";
import { openStand, pathOf, type Stand } from "./stand.ts";

const tolerations = [{ key: "spot", operator: "Exists", effect: "NoSchedule" }];

/** No node of the simulated cluster has a label of a flavor. */
const flavor = { ...flavorOf("spot"), spec: { tolerations } };

const queueLabel = "kueue.x-k8s.io/queue-name";
const workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";

type Given = {
  readonly labels?: Fields;
  readonly annotations?: Fields;
  readonly spec?: Fields;
  readonly sparkConf?: Fields;
  readonly scripts?: readonly DriverScript[];
  /** The cluster does not serve Kueue's kinds. */
  readonly bare?: boolean;
};

const open = ({ labels = {}, annotations = {}, spec = {}, sparkConf = {}, scripts, bare }: Given = {}): Stand => {
  const stand = openStand({
    metadata: { labels: { [queueLabel]: "team-a", ...labels }, annotations },
    spec: { sparkConf: { ...confs, ...sparkConf }, ...spec },
    scripts: scripts ?? [{ hangs: true }],
    ...(bare === true ? { tries: 3 } : {}),
  });
  if (bare !== true) {
    for (const crd of kueueCrds) stand.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    stand.request("POST", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors", flavor);
  }
  return stand;
};

const workloadsIn = ({ simulator }: Stand) => simulator.store.list("workloads.kueue.x-k8s.io") as unknown as Stored[];

const only = (stand: Stand): Stored => workloadsIn(stand)[0] ?? assert.fail("no Workload");

const write = (stand: Stand, status: Fields): void => {
  const path = `${workloads}/${only(stand).metadata.name}/status`;
  assert.equal(stand.request("PATCH", path, { status }, "application/merge-patch+json"), 200);
};

const admit = (stand: Stand): void => write(stand, reserved(only(stand), "spot", stand.simulator.clock.now(), true));

const evict = (stand: Stand): void => write(stand, evicted(only(stand), "Preempted", stand.simulator.clock.now()));

const patch = (stand: Stand, body: Fields): void => {
  assert.equal(stand.request("PATCH", pathOf(), body, "application/merge-patch+json"), 200);
};

const setsOf = (stand: Stand): readonly string[] =>
  (only(stand).spec as { podSets: { name: string; count: number }[] }).podSets.map(
    ({ name, count }) => `${name}=${count}`,
  );

const podsIn = ({ simulator }: Stand) => simulator.store.list("pods");

const tolerationsOf = (pod: ReturnType<typeof podsIn>[number] | undefined): unknown =>
  (pod?.["spec"] as { tolerations?: { key: string }[] } | undefined)?.tolerations?.filter(({ key }) => key === "spot");

const namesIn = (stand: Stand): readonly string[] | undefined => stand.states()?.map(({ summary }) => summary);

const conditionOf = (stand: Stand, type: string): unknown =>
  (only(stand).status as { conditions?: { type: string; status: string }[] })?.conditions?.find(
    (one) => one.type === type,
  )?.status;

describe("an application in a LocalQueue of Kueue", () => {
  test("asks for its driver and its executors, says that it waits, and has no pod before its admission", async () => {
    const stand = open();
    await stand.run(5);
    assert.deepEqual(setsOf(stand), ["driver=1", "executor=2"]);
    const { metadata, spec } = only(stand);
    assert.match(metadata.name, /^sparkapplication-pi-[0-9a-f]{5}$/);
    assert.equal((spec as { queueName: string }).queueName, "team-a");
    assert.deepEqual(podsIn(stand), []);
    assert.deepEqual(namesIn(stand), ["Submitted"]);
    assert.match(
      stand.messages()[0] ?? "",
      /^waits until Kueue admits Workload sparkapplication-pi-\S+ in LocalQueue team-a$/,
    );
    assert.deepEqual(tellsOf(stand, "KueueAdmissionPending").length, 1);
  });

  test("begins under its admission, with what the flavor adds to all of its pods, and gives its quota back at its end", async () => {
    const stand = open({ scripts: [{ jobMs: 20_000 }] });
    await stand.run(2);
    admit(stand);
    await stand.run(4);
    const [driver] = podsIn(stand);
    assert.deepEqual(tolerationsOf(driver), tolerations);
    assert.equal(tellsOf(stand, "KueueAdmitted").length, 1);
    const maps = stand.simulator.store.list("configmaps").map(({ data }) => JSON.stringify(data));
    assert.ok(maps.some((text) => text.includes("NoSchedule")));
    await stand.run(20);
    assert.equal(namesIn(stand)?.at(-1), "ResourceReleased");
    assert.deepEqual(workloadsIn(stand), []);
  });

  test("is not admitted by reserved quota while admission checks are open", async () => {
    const stand = open();
    await stand.run(2);
    write(stand, reserved(only(stand), "spot", stand.simulator.clock.now(), false));
    await stand.run(4);
    assert.deepEqual(podsIn(stand), []);
    assert.match(stand.messages()[0] ?? "", /its admission checks are not ready$/);
  });

  test("ends when it is evicted, gives its quota back, and begins again without a restart", async () => {
    const stand = open();
    await stand.run(2);
    admit(stand);
    await stand.run(6);
    assert.equal(namesIn(stand)?.at(-1), "RunningHealthy");
    evict(stand);
    await stand.run(1);
    assert.equal(conditionOf(stand, "QuotaReserved"), "True", "while its pods end");
    await stand.run(20);
    assert.deepEqual(podsIn(stand), []);
    assert.equal(conditionOf(stand, "QuotaReserved"), "False");
    assert.equal(workloadsIn(stand).length, 1);
    assert.equal(namesIn(stand)?.at(-1), "ScheduledToRestart");
    admit(stand);
    await stand.run(6);
    assert.equal(namesIn(stand)?.at(-1), "RunningHealthy");
    assert.deepEqual(stand.drivers, ["pi-0-driver", "pi-1-driver"]);
    const { status } = stand.simulator.store.get(
      "sparkapplications.spark.apache.org",
      "default/pi",
    ) as unknown as Stored;
    const { attemptInfo } = (status as { currentAttemptSummary: { attemptInfo: Fields } }).currentAttemptSummary;
    assert.deepEqual(attemptInfo["restartCounter"], 0);
    assert.deepEqual(
      stand.told().filter((reason) => reason === "Failed"),
      [],
    );
  });

  test("says that its pods are ready when driver and initial executors are, until it is evicted", async () => {
    const scripts = [{ hangs: true, executors: { "*": { startMs: 30_000 } } }];
    const stand = open({ annotations: { "rekindle.dev/executors": "own" }, scripts });
    await stand.run(2);
    admit(stand);
    await stand.run(8);
    assert.deepEqual([namesIn(stand)?.at(-1), idsIn(stand).length], ["RunningHealthy", 2]);
    assert.notEqual(conditionOf(stand, "PodsReady"), "True", "its executors are still pending");
    await stand.run(10);
    assert.equal(conditionOf(stand, "PodsReady"), "True");
    evict(stand);
    await stand.run(20);
    assert.equal(conditionOf(stand, "PodsReady"), "False");
  });

  test("passes the topology that its pods ask for on to Kueue", async () => {
    const stand = open({
      sparkConf: {
        "spark.kubernetes.driver.annotation.kueue.x-k8s.io/podset-preferred-topology": "block",
        "spark.kubernetes.executor.annotation.kueue.x-k8s.io/podset-required-topology": "rack",
      },
    });
    await stand.run(3);
    const { podSets } = only(stand).spec as { podSets: readonly { topologyRequest?: unknown }[] };
    assert.deepEqual(
      podSets.map(({ topologyRequest }) => topologyRequest),
      [{ preferred: "block" }, { required: "rack" }],
    );
  });

  test("asks anew for each restart", async () => {
    const restartConfig = { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartBackoffMillis: 4_000 };
    const stand = open({
      spec: { applicationTolerations: { restartConfig } },
      scripts: [{ jobMs: 6_000, exitCode: 1 }, { hangs: true }],
    });
    await stand.run(2);
    const first = only(stand).metadata.uid;
    admit(stand);
    await stand.run(20);
    assert.notEqual(only(stand).metadata.uid, first);
    assert.deepEqual(podsIn(stand), []);
    assert.equal(namesIn(stand)?.at(-1), "ScheduledToRestart");
    admit(stand);
    await stand.run(4);
    assert.deepEqual(stand.drivers, ["pi-0-driver", "pi-1-driver"]);
  });

  test("is finished for Kueue when its ended pods are kept", async () => {
    const stand = open({
      spec: { applicationTolerations: { resourceRetainPolicy: "Always" } },
      scripts: [{ jobMs: 10_000 }],
    });
    await stand.run(2);
    admit(stand);
    await stand.run(20);
    assert.equal(namesIn(stand)?.at(-1), "TerminatedWithoutReleaseResources");
    assert.equal(conditionOf(stand, "Finished"), "True");
  });

  test("has no Workload while it is suspended, and another one for another queue, class or number", async () => {
    const stand = open();
    await stand.run(3);
    patch(stand, { spec: { sparkConf: { "spark.executor.instances": "3" } } });
    await stand.run(4);
    assert.deepEqual(setsOf(stand), ["driver=1", "executor=3"]);
    patch(stand, { metadata: { labels: { [queueLabel]: "team-b" } } });
    await stand.run(4);
    assert.equal((only(stand).spec as { queueName: string }).queueName, "team-b");
    stand.request("POST", "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses", {
      ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "WorkloadPriorityClass", metadata: { name: "high" }, value: 7 },
    });
    patch(stand, { metadata: { labels: { "kueue.x-k8s.io/priority-class": "high" } } });
    await stand.run(4);
    assert.equal((only(stand).spec as { priority: number }).priority, 7);
    patch(stand, { spec: { suspend: true } });
    await stand.run(4);
    assert.deepEqual(workloadsIn(stand), []);
    assert.deepEqual(podsIn(stand), []);
  });

  test("keeps the queue in which it began, whatever its label says while it runs", async () => {
    const stand = open();
    await stand.run(2);
    admit(stand);
    await stand.run(6);
    patch(stand, { metadata: { labels: { [queueLabel]: null } } });
    await stand.run(4);
    assert.equal(namesIn(stand)?.at(-1), "RunningHealthy");
    assert.equal(workloadsIn(stand).length, 1);
    evict(stand);
    await stand.run(20);
    assert.deepEqual(workloadsIn(stand), []);
    assert.deepEqual(stand.drivers, ["pi-0-driver", "pi-1-driver"]);
  });

  test("obeys Kueue also when its record is lost", async () => {
    const stand = open();
    await stand.run(2);
    admit(stand);
    await stand.run(6);
    const records = "/apis/rekindle.dev/v1alpha1/namespaces/default/checkpoints";
    assert.equal(stand.request("DELETE", `${records}/apachesparkapplication.pi`), 200);
    await stand.run(6);
    patch(stand, { spec: { sparkConf: { "spark.executor.instances": "5" } } });
    await stand.run(2);
    assert.equal(namesIn(stand)?.at(-1), "RunningHealthy");
    evict(stand);
    await stand.run(20);
    assert.deepEqual(podsIn(stand), []);
    assert.equal(namesIn(stand)?.at(-1), "ScheduledToRestart");
    assert.deepEqual(setsOf(stand), ["driver=1", "executor=5"]);
  });

  test("that runs without a queue goes on so when it is given one", async () => {
    const stand = open({ labels: { [queueLabel]: "" } });
    await stand.run(6);
    patch(stand, { metadata: { labels: { [queueLabel]: "team-a" } } });
    await stand.run(6);
    assert.equal(namesIn(stand)?.at(-1), "RunningHealthy");
    assert.deepEqual(workloadsIn(stand), []);
  });

  test("waits and says so where the cluster has no Kueue", async () => {
    const stand = open({ bare: true });
    await stand.run(6);
    assert.deepEqual(podsIn(stand), []);
    assert.deepEqual(namesIn(stand), ["Submitted"]);
    assert.match(stand.messages()[0] ?? "", /workloads .* does not serve this resource/);
    assert.match(
      tellsOf(stand, "KueueAdmissionRequestFailed").join(),
      /needs a Workload of .* \(Kueue 0.15 or later\)/,
    );
  });

  test("has no more executors of Rekindle's own than were admitted, also when its spec asks for more", async () => {
    const stand = open({ annotations: { "rekindle.dev/executors": "own" } });
    await stand.run(2);
    admit(stand);
    await stand.run(8);
    const ids = idsIn(stand);
    assert.equal(ids.length, 2);
    const executor = podsIn(stand).find(({ metadata }) => metadata.labels?.["spark-role"] === "executor");
    assert.deepEqual(tolerationsOf(executor), tolerations);
    patch(stand, { spec: { sparkConf: { "spark.executor.instances": "4" } } });
    await stand.run(8);
    assert.deepEqual(idsIn(stand), ids);
  });
});

describe("the executors that Kueue is asked for", () => {
  const rows: readonly (readonly [why: string, sparkConf: Fields, sets: readonly string[]])[] = [
    ["are those that the spec states", { "spark.executor.instances": "5" }, ["driver=1", "executor=5"]],
    ["are none of a driver whose master is local", { "spark.kubernetes.driver.master": "local[2]" }, ["driver=1"]],
    [
      "are the most that dynamic allocation may ask for",
      { "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "7" },
      ["driver=1", "executor=7"],
    ],
  ];
  for (const [why, sparkConf, sets] of rows) {
    test(why, async () => {
      const stand = open({ sparkConf });
      await stand.run(3);
      assert.deepEqual(setsOf(stand), sets);
    });
  }

  const refusals: readonly (readonly [why: string, sparkConf: Fields, says: RegExp])[] = [
    [
      "need a bound where their driver asks for them",
      { "spark.dynamicAllocation.enabled": "true" },
      /queue-name\]: .*set spark\.dynamicAllocation\.maxExecutors, for which Kueue is asked/,
    ],
    [
      "are not counted twice",
      { [`spark.kubernetes.executor.label.${queueLabel}`]: "team-a" },
      /Kueue would count them twice: remove it from the application/,
    ],
  ];
  for (const [why, sparkConf, says] of refusals) {
    test(why, async () => {
      const stand = open({ sparkConf });
      await stand.run(6);
      assert.deepEqual(workloadsIn(stand), []);
      assert.ok(
        stand.messages().some((text) => says.test(text)),
        stand.messages().join(),
      );
    });
  }
});
