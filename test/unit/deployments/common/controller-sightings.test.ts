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
import { openSignStore, openWriters, signsIn } from "../../../../shared/forward/controller-detection.ts";
import { openCursors } from "../../../../shared/forward/cursors.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { controllerPod, deploymentOf, queueObject, writeStatus } from "../../../support/beside.ts";
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
  const openAnother = () => {
    const scope = { namespaces: [], selector: undefined };
    const sighter = openSighter({ ...scope, cluster, key, transport, cursors: cursorsOf(), groups, report });
    return openStandby({ cluster, leases: ["mine"], operators, report, sighter, now: () => world.now });
  };
  const sightings = openSignStore(cursorsOf(), key);
  return { world, lists, cluster, lines, report, standing: openAnother, sightings, checkpoints };
};

const on = (simulator: Simulator, path: string, object: unknown): Promise<unknown> =>
  request(simulator.transport, "POST", path, object);

const deployments = "/apis/apps/v1/namespaces/default/deployments";

describe("functions beside a controller without leader election", () => {
  const rows = [
    {
      name: "by its Deployment",
      arrange: (simulator: Simulator) => on(simulator, deployments, deploymentOf("vc-controller-manager:v1.12.1")),
      says: /Volcano runs as the deployment default\/controllers/,
    },
    {
      name: "by a Ready pod of its chart's labels",
      arrange: async (simulator: Simulator) => {
        await on(simulator, "/api/v1/namespaces/default/pods", controllerPod({ app: "volcano-controller" }));
        simulator.clock.advanceTo(simulator.clock.now() + 10_000);
      },
      says: /Volcano runs in the pod default\/controllers-0/,
    },
    {
      name: "by a status that it has just written",
      arrange: async (simulator: Simulator) => {
        await on(simulator, "/apis/scheduling.volcano.sh/v1beta1/queues", queueObject);
        await writeStatus(simulator.transport, "vc-controller-manager/v1");
      },
      says: /vc-controller-manager wrote the status of Queue \/q \d+ s ago/,
    },
  ];
  for (const { name, arrange, says } of rows)
    test(`detect it ${name} at a cold start, leave its family alone, and share the record`, async () => {
      const simulator = openSimulator({ crds, managedFields: true });
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
    await sightings.save({ at, signs: {}, written: {} });
    const one = standing();
    assert.equal(await one.aside("Job"), false);
    await sightings.save({ at, signs: { Volcano: ["it is there"] }, written: {} });
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

describe("a forwarder", () => {
  test("saves a detected controller, and writes nothing while the state is the same", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const simulator = openSimulator({ crds, managedFields: true });
    const { cluster, report, sightings, checkpoints } = open(simulator);
    const writers = openWriters();
    const saves = (): number => Number(/"saves":(\d+)/.exec([...checkpoints.all().values()].join())?.[1] ?? 0);
    const parts = { cluster, groups, report, sightings, writers };
    await startSighting(parts)();
    const stop = startSighting(parts);
    const seen = async (name: string): Promise<string> => {
      const kept = await sightings.load();
      return kept === undefined ? "" : signsIn(kept, name).join();
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
      await on(simulator, "/apis/scheduling.volcano.sh/v1beta1/queues", queueObject);
      simulator.clock.advanceTo(simulator.clock.now() + 25_000);
      const { body } = await writeStatus(simulator.transport, "vc-controller-manager/v1");
      writers.see({ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", ...JSON.parse(body) });
      await turn();
      assert.match(await seen("Volcano"), /wrote the status of Queue/);
    } finally {
      mock.timers.reset();
      await stop();
    }
  });

  test("that has just started keeps the record's status writers until it has watched for a minute", async () => {
    const simulator = openSimulator({ crds, managedFields: true });
    const { cluster, report, sightings } = open(simulator);
    const written = { Volcano: ["vc-controller-manager wrote the status of Queue /q 5 s ago"] };
    await sightings.save({ at: simulator.clock.now(), signs: {}, written });
    const watching = { cluster, groups, report, sightings, writers: openWriters() };
    const keptAfter = async (ms: number): Promise<readonly string[] | undefined> => {
      simulator.clock.advanceTo(simulator.clock.now() + ms);
      await sightOnce(watching);
      return (await sightings.load())?.written["Volcano"];
    };
    assert.deepEqual([await keptAfter(0), await keptAfter(30_000)], [written.Volcano, written.Volcano]);
    assert.deepEqual(await keptAfter(30_000), []);
  });

  test("saves a status writer as soon as its watches show one, so that a short window is enough", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const simulator = openSimulator({ crds, managedFields: true });
    const { cluster, report, sightings } = open(simulator);
    const writers = openWriters();
    const stop = startSighting({ cluster, groups, report, sightings, writers });
    await on(simulator, "/apis/scheduling.volcano.sh/v1beta1/queues", queueObject);
    const { body } = await writeStatus(simulator.transport, "vc-controller-manager/v1");
    writers.see({ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", ...JSON.parse(body) });
    mock.timers.tick(1_000);
    mock.timers.reset();
    await stop();
    assert.match((await sightings.load())?.written["Volcano"]?.join() ?? "", /wrote the status of Queue/);
  });
});
