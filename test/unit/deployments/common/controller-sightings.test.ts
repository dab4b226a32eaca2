/**
 * Controllers without a lease, as functions detect them: one record for all environments, renewed before it is too old.
 */
import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { memoryCheckpoints } from "../../../../shared/adapters/checkpoints/memory.ts";
import { openCluster } from "../../../../shared/adapters/kubernetes/cluster.ts";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import {
  openSighter,
  openStandby,
  sightingKey,
  sightOnce,
  startSighting,
} from "../../../../shared/deployments/common/standby.ts";
import { openSignStore, standingIn } from "../../../../shared/forward/controller-detection.ts";
import { openCursors } from "../../../../shared/forward/cursors.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { administrators, controllerPod, deploymentOf, queueObject, writeStatus } from "../../../support/beside.ts";
import { crds } from "../../../support/crds.ts";

const groups = ["sparkoperator.k8s.io", "batch.volcano.sh"];
const operators = [
  { kind: "SparkApplication", resource: { group: "sparkoperator.k8s.io", version: "v1", plural: "s", kind: "S" } },
  { kind: "Job", resource: { group: "batch.volcano.sh", version: "v1", plural: "j", kind: "J" } },
];

/** Opens a deployment of functions on a cluster of its own; each standby stands for another environment. */
const open = (simulator: Simulator) => {
  const world = { now: 0 };
  const lists: string[] = [];
  const { transport: way } = simulator;
  const transport: typeof way = {
    ...way,
    send: (ask) => {
      if (/\/(deployments|pods)\?/.test(ask.path)) lists.push(ask.path);
      return way.send(ask);
    },
  };
  const cluster = openCluster(transport);
  const checkpoints = memoryCheckpoints();
  const lines: string[] = [];
  const report = (level: string, line: string): void => void (level === "warn" && lines.push(line));
  const cursorsOf = () => openCursors({ checkpoints, clusterUid: "u", report });
  const key = sightingKey("c1", []);
  assert.ok(key !== undefined);
  const lookout = { leases: ["mine"], namespaces: [administrators] };
  const openAnother = () => {
    const sighter = openSighter({ cluster, key, cursors: cursorsOf(), groups, lookout, report });
    const { signs } = openStandby({ cluster, lookout, operators, report, sighter, now: () => world.now });
    return { aside: async (kind: string) => (await signs(kind)).length > 0 };
  };
  const sightings = openSignStore(cursorsOf(), key);
  return { world, lists, cluster, lines, report, lookout, standing: openAnother, sightings, checkpoints };
};

const on = (simulator: Simulator, path: string, object: unknown): Promise<unknown> =>
  request(simulator.transport, "POST", path, object);

const deployments = "/apis/apps/v1/namespaces/kube-system/deployments";

describe("functions beside a controller without leader election", () => {
  const rows = [
    {
      name: "by its Deployment",
      arrange: (simulator: Simulator) => on(simulator, deployments, deploymentOf("vc-controller-manager:v1.12.1")),
      says: /Volcano runs as the deployment kube-system\/controllers/,
    },
    {
      name: "by a Ready pod of its chart's labels",
      arrange: async (simulator: Simulator) => {
        await on(simulator, "/api/v1/namespaces/kube-system/pods", controllerPod({ app: "volcano-controller" }));
        simulator.clock.advanceTo(simulator.clock.now() + 10_000);
      },
      says: /Volcano runs in the pod kube-system\/controllers-0/,
    },
  ];
  for (const { name, arrange, says } of rows)
    test(`detect it ${name} at a cold start, leave its family alone, and share the record`, async () => {
      const simulator = openSimulator({ crds });
      await arrange(simulator);
      const { standing, lines, lists } = open(simulator);
      const first = standing();
      assert.deepEqual([await first.aside("Job"), await first.aside("SparkApplication")], [true, false]);
      assert.match(lines.join(), says);
      const looked = lists.length;
      assert.ok(looked > 0);
      assert.equal(await standing().aside("Job"), true);
      assert.equal(lists.length, looked);
    });

  test("read the record again within a minute, and ignore one that was not renewed for two hours", async () => {
    const simulator = openSimulator({ crds });
    const { world, standing, sightings, lists } = open(simulator);
    const at = simulator.clock.now();
    await sightings.save({ at, signs: {}, led: {}, places: {} });
    const one = standing();
    assert.equal(await one.aside("Job"), false);
    await sightings.save({ at, signs: { Volcano: ["it is there"] }, led: {}, places: {} });
    world.now = 30_000;
    assert.equal(await one.aside("Job"), true);
    assert.deepEqual(lists, []);
    simulator.clock.advanceTo(at + 7_201_000);
    world.now = 60_000;
    assert.equal(await one.aside("Job"), false);
    assert.ok(lists.length > 0);
    assert.deepEqual((await sightings.load())?.signs["Volcano"], []);
  });
});

describe("functions of some namespaces alone", () => {
  test("keep no record of other controllers, because a tenant may write records there", () => {
    assert.equal(sightingKey("c1", ["team-a", "team-b"]), undefined);
  });
});

describe("a forwarder", () => {
  const watched = (simulator: Simulator) => {
    const { cluster, report, lookout, sightings, checkpoints } = open(simulator);
    const freed: string[] = [];
    const parts = { cluster, groups, lookout, report, sightings, freed: () => void freed.push("freed") };
    return { parts, sightings, checkpoints, freed };
  };

  test("saves a detected controller, and writes nothing while the state is the same", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const simulator = openSimulator({ crds });
    const { parts, sightings, checkpoints } = watched(simulator);
    const saves = (): number => Number(/"saves":(\d+)/.exec([...checkpoints.all().values()].join())?.[1] ?? 0);
    await startSighting(parts)();
    const stop = startSighting(parts);
    const seen = async (name: string): Promise<string> => {
      const kept = await sightings.load();
      return kept === undefined ? "" : (standingIn(kept).get(name) ?? []).join();
    };
    const turn = async (): Promise<void> => {
      for (let left = 50; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
      simulator.clock.advanceTo(simulator.clock.now() + 30_000);
      mock.timers.tick(30_000);
      for (let left = 50; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
    };
    try {
      for (let left = 4; left > 0; left -= 1) await turn();
      assert.equal(saves(), 1);
      await on(simulator, deployments, deploymentOf("ghcr.io/kubeflow/spark-operator/controller:2.3.0"));
      await turn();
      assert.match(await seen("kubeflow spark-operator"), /runs as the deployment/);
    } finally {
      mock.timers.reset();
      await stop();
    }
  });

  test("sees no controller in what a tenant forges: a Deployment, a status, a lease", async () => {
    const simulator = openSimulator({ crds, managedFields: true });
    const { parts, sightings, freed } = watched(simulator);
    const mine = "/apis/apps/v1/namespaces/default/deployments";
    await on(simulator, mine, deploymentOf("vc-controller-manager:v1", "default"));
    await on(simulator, "/apis/scheduling.volcano.sh/v1beta1/queues", queueObject);
    await writeStatus(simulator.transport, "vc-controller-manager/v1");
    await sightOnce(parts);
    const kept = await sightings.load();
    assert.ok(kept !== undefined);
    assert.deepEqual([standingIn(kept).size, freed], [0, []]);
  });

  test("has all keys looked at again once when a controller has gone, by its lease, too", async () => {
    const simulator = openSimulator({ crds });
    const { parts, freed } = watched(simulator);
    const renewTime = new Date(simulator.clock.now()).toISOString().replace("Z", "000Z");
    await on(simulator, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", {
      ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
      metadata: { name: "vc-controller-manager", namespace: administrators },
      spec: { holderIdentity: "volcano-0", leaseDurationSeconds: 15, renewTime },
    });
    await sightOnce(parts);
    assert.deepEqual(freed, []);
    simulator.clock.advanceTo(simulator.clock.now() + 60_000);
    await sightOnce(parts);
    await sightOnce(parts);
    assert.deepEqual(freed, ["freed"]);
  });
});
