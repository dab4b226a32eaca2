/** The fixture of a scenario's executions: one simulator, restored for each execution, and its initial objects. */
import type { Message } from "../../../shared/core/key.ts";
import { openCacheState } from "../../../shared/deployments/host/cache.ts";
import type { World } from "../../../shared/engine/context/world.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { crds } from "../../support/crds.ts";
import { queuedApplication } from "./apache/queued-judge.ts";
import { apart } from "./controllers.ts";
import { identityOf } from "./ending.ts";
import { clusterQueue, withGrowths } from "./growth-judge.ts";
import { attended } from "./hearing.ts";
import { withKeptLogs } from "./kept-logs.ts";
import { type Swept, sweptOf } from "./kinds.ts";
import { appName, canaries, namespace, type Scenario } from "./scenario.ts";
import { lookMs, type Snapshot } from "./snapshot.ts";
import { withEvictions } from "./volcano/eviction-judge.ts";
import { withGangs } from "./volcano/gang-judge.ts";
import { kueue, queuedJob, withKueue } from "./volcano/kueue-judge.ts";
import { withNatives } from "./volcano/native-judge.ts";
import { withNearness } from "./volcano/near-judge.ts";
import { withRooms } from "./volcano/room-judge.ts";
import { guestsFor } from "./volcano/simulator-parts.ts";
import { homeNamespace, ofJobs, queueAt } from "./volcano/things.ts";

/** Runs the step of a key's messages; undefined when they must be delivered again. */
export type Takes = (world: World, messages: readonly Message[]) => Promise<object | undefined>;

export type Fixture = {
  readonly scenario: Scenario;
  readonly simulator: Simulator;
  readonly clusterUid: string;
  /** Virtual time from which messages may come. */
  readonly start: number;
  /** The snapshot with all initial objects, before the first user action. */
  readonly initial: Snapshot;
  /** The function that runs steps; absent: the engine. */
  readonly takes?: Takes;
  subscriber: ((change: Change) => void) | undefined;
};

export { crds };

export const manifest = (
  { apiKind: kind, group, version, plural, everywhere }: Swept,
  name: string,
  spec: unknown,
  annotations: Readonly<Record<string, string>> = {},
  labels: Readonly<Record<string, string>> = {},
): readonly [path: string, body: object] => [
  `/apis/${group}/${version}${everywhere ? "" : `/namespaces/${namespace}`}/${plural}`,
  {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, annotations, labels, ...(everywhere ? {} : { namespace }) },
    spec,
  },
];

export const pods = `/api/v1/namespaces/${namespace}/pods`;

/** A pod that no scheduler binds. */
const gatedPod = (name: string, labels: Readonly<Record<string, string>>): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, labels },
  spec: {
    containers: [{ name: "spark-kubernetes-driver", image: "busybox" }],
    schedulingGates: [{ name: "example.com/held" }],
  },
});

/** A driver as the Spark operator submits it and its webhook leaves it: without readable confs or Rekindle's marks. */
export const driverLeft = (name: string, uid: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace,
    labels: {
      "sparkoperator.k8s.io/app-name": appName,
      "sparkoperator.k8s.io/launched-by-spark-operator": "true",
      "sparkoperator.k8s.io/submission-id": "2c5c8a39-submitted-by-upstream",
      "spark-role": "driver",
      "spark-app-selector": "spark-0123456789abcdef0123456789abcdef",
    },
    ownerReferences: [
      { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name: appName, uid, controller: true },
    ],
  },
  spec: {
    restartPolicy: "Never",
    containers: [{ name: "spark-kubernetes-driver", image: "docker.io/apache/spark:4.1.1" }],
  },
});

const stranger = `${appName}-other`;

/** The service account of drivers. */
export const account = [
  `/api/v1/namespaces/${namespace}/serviceaccounts`,
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "spark", namespace } },
] as const;

/** Objects of others with names and labels like Rekindle's, and with other owners. */
const ofSpark = (scenario: Scenario): readonly (readonly [path: string, body: object])[] => {
  const labels = {
    "sparkoperator.k8s.io/app-name": appName,
    "sparkoperator.k8s.io/launched-by-spark-operator": "true",
  };
  const core = `/api/v1/namespaces/${namespace}`;
  return [
    account,
    manifest(sweptOf(scenario), stranger, scenario.spec, { "rekindle.dev/paused": "true" }),
    [
      pods,
      gatedPod(`${appName}-impostor`, {
        ...labels,
        "spark-role": "executor",
        "sparkoperator.k8s.io/submission-id": "stolen",
      }),
    ],
    [
      `${core}/configmaps`,
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `${appName}-conf-map`, namespace, labels },
        data: { a: "b" },
      },
    ],
    [
      `${core}/services`,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: `${appName}-driver-svc`, namespace, labels },
        spec: { clusterIP: "None", selector: labels },
      },
    ],
  ];
};

const isOfVolcano = ({ group }: Swept): boolean => group.endsWith(".volcano.sh");

const bystanders = (scenario: Scenario): readonly (readonly [path: string, body: object])[] =>
  isOfVolcano(sweptOf(scenario))
    ? [manifest(sweptOf(scenario), stranger, scenario.spec, { "rekindle.dev/paused": "true" }), ...ofJobs]
    : [...ofSpark(scenario), ...((scenario.beside ?? scenario.gang) === undefined ? [] : [homeNamespace])];

const write = (simulator: Simulator, method: string, path: string, body: object): void => {
  const answer = simulator.handle({
    method,
    path,
    headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.body}`);
};

/** Creates an object; throws the server's refusal. */
export const post = (simulator: Simulator, path: string, body: object): void => write(simulator, "POST", path, body);

/** A cluster before any user action: an execution begins there and hears of every change. */
export type InitialCluster = Pick<Fixture, "simulator" | "clusterUid" | "start" | "subscriber"> & {
  readonly state: ReturnType<Simulator["snapshot"]>;
  readonly identities: ReadonlyMap<string, string>;
};

/** Runs the clock until the initial objects are at rest. */
export const initialClusterOf = (simulator: Simulator): InitialCluster => {
  const { store, clock } = simulator;
  clock.advanceTo(clock.now() + 10_000);
  const identities = new Map<string, string>();
  for (const table of store.tables())
    for (const object of store.list(table)) identities.set(object.metadata.uid, identityOf(table, object));
  const initialCluster: InitialCluster = {
    simulator,
    clusterUid: store.get("namespaces", "kube-system")?.metadata.uid ?? "",
    start: clock.now(),
    state: simulator.snapshot(),
    identities,
    subscriber: undefined,
  };
  simulator.subscribe((change) => initialCluster.subscriber?.(change));
  return initialCluster;
};

type FixtureOptions = Pick<Fixture, "scenario" | "takes"> & Pick<Snapshot, "oracle" | "armed">;

/** Opens the cluster for a scenario. */
export const fixtureIn = (initialCluster: InitialCluster, { oracle, armed, ...options }: FixtureOptions): Fixture => {
  const { simulator, clusterUid, start, state, identities } = initialCluster;
  const fixture: Fixture = {
    ...options,
    ...{ simulator, clusterUid, start },
    initial: {
      simulator: state,
      journal: [],
      oracle,
      count: { calls: 0, messages: 0, events: 0, invocations: 0, told: 0 },
      nextSweep: start + 300_000,
      nextLook: options.scenario.beside === undefined ? Number.POSITIVE_INFINITY : start + lookMs,
      mind: openCacheState(),
      identities,
      met: new Set(),
      armed,
    },
    subscriber: undefined,
  };
  initialCluster.subscriber = (change) => fixture.subscriber?.(change);
  return fixture;
};

/** Time, ms, for which each executor works from its start on; 0 where busy executors may be ended. */
const busyMsOf = ({ scripts, annotations }: Scenario): number =>
  annotations?.["rekindle.dev/executor-scale-down"] === "force"
    ? 0
    : (scripts[appName]?.[0]?.executors?.["*"]?.busyMs ?? 0);

/** Ids of executors that hold shuffle data; "*": all of them. */
const holdersOf = ({ scripts }: Scenario): readonly string[] =>
  Object.entries(scripts[appName]?.[0]?.executors ?? {}).flatMap(([id, { shuffleBytes = 0 }]) =>
    shuffleBytes > 0 ? [id] : [],
  );

const guestsOf = (scenario: Scenario): ReturnType<typeof guestsFor> => [
  ...guestsFor(scenario),
  ...(scenario.kueued === undefined ? [] : [scenario.kueued === true ? kueue : clusterQueue]),
];

/** Adds the invariants of what other components of the cluster decide. */
const withGuests = (oracle: Snapshot["oracle"], scenario: Scenario): Snapshot["oracle"] => {
  const { gang, kueued } = scenario;
  const placed = gang === "native" ? withNatives(oracle) : oracle;
  if (kueued === "growths") return withGrowths(placed, scenario);
  return kueued
    ? withKueue(placed, scenario.kind === "ApacheSparkApplication" ? queuedApplication : queuedJob)
    : placed;
};

/** The cores of each machine. */
const cpuOfNode = 64;

/** Opens the simulator of a scenario with its initial objects, lets them come to rest, and applies the application. */
export const openFixture = (scenario: Scenario): Fixture => {
  const machines = scenario.machines ?? ["node-1"];
  const nodes = machines.map((name) => ({ name, cpu: `${cpuOfNode}` }));
  const simulator = openSimulator({
    ...{ crds, nodes, scripts: scenario.scripts },
    schedulers: ["default-scheduler", "volcano"],
    guests: guestsOf(scenario),
  });
  for (const [path, body] of bystanders(scenario)) post(simulator, path, body);
  for (const queue of scenario.kind === "Queue" ? [] : ["root", "default"])
    for (const [method, path, body] of queueAt(queue, "Open", simulator.store)) write(simulator, method, path, body);
  for (const name of scenario.strangers ?? []) post(simulator, pods, gatedPod(name, {}));
  const initialCluster = initialClusterOf(simulator);
  const [busyMs, holders] = [busyMsOf(scenario), holdersOf(scenario)];
  const judge = sweptOf(scenario).judge({
    namespace,
    name: appName,
    canaries,
    busyMs,
    holders,
    sizes: scenario.sizes,
    demand: scenario.demand,
    tasks: scenario.scripts[`${appName}-server`]?.[0]?.tasks,
    queued: scenario.gang !== undefined,
  });
  const heard = scenario.listeners === undefined ? judge : attended(judge, sweptOf(scenario));
  const planned =
    scenario.gang === "builtin" ? withNearness(withGangs(heard, { nodes: machines, cpuOfNode }), scenario) : heard;
  const placed = withGuests(scenario.gang === undefined ? planned : withRooms(planned), scenario);
  const logged = scenario.keepsLogs ? withKeptLogs(placed) : placed;
  const judged = scenario.gangEvict === undefined ? logged : withEvictions(logged, scenario);
  const oracle = scenario.beside === undefined ? judged : apart(judged, sweptOf(scenario));
  return fixtureIn(initialCluster, { scenario, oracle, armed: [{ at: initialCluster.start + 100, index: -1 }] });
};
