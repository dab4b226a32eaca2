/** Executors follow their driver's demand: `rekindle.dev/executors: own` with dynamic allocation. */
import type { PodScript } from "../../../shared/simulator/nodes/script.ts";
import type { Demand } from "./demand-invariants.ts";
import { appName, base, bothRun, executorRuns, type Scenario, type UserAction } from "./scenario.ts";

/** Annotations of an application whose executors Rekindle makes. */
export const own = { "rekindle.dev/executors": "own", "rekindle.dev/executor-leave-grace": "20s" } as const;

/** Faults that would last longer than the job, or than one of its demands. */
const outlasting = ["pause-600s", "frozen"];

export type Way = Pick<Scenario, "name" | "what" | "behindBy"> &
  Pick<Demand, "gauge" | "granted" | "claims" | "evicted"> &
  Partial<Pick<Scenario, "userActions" | "stands" | "also" | "annotations" | "machines" | "labels" | "kueued">> & {
    readonly jobMs?: number;
    readonly executors?: Readonly<Record<string, PodScript>>;
    readonly driver?: PodScript;
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly confs?: Readonly<Record<string, string>>;
    /** The number of executors at the end of the job, which begins then to be so long that every fault is over. */
    readonly settles?: number;
  };

/** As many revisions as to show no executor yet. */
const far = [2, 16, 40] as const;

const idle = { "*": { busyMs: 0 } } as const;
const idleMs = 20_000;

/** A step that died is repeated after 90 s; then come the idle timeout and the grace of executors that leave. */
const settledMs = 160_000;
const standsMs = 30_000;

/** The demand stands until the resync after five minutes, which makes up for a lost timer. */
export const resyncedMs = 240_000;

const spec = {
  ...base,
  executor: { cores: 1, memory: "512m" },
  dynamicAllocation: { enabled: true, maxExecutors: 3 },
};

const quotas = "/api/v1/namespaces/default/resourcequotas";
const quotaOf = (pods: number): object => ({
  ...{ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "team" } },
  spec: { hard: { pods: `${pods}` } },
});

const quotaBecomes = (pods: number, afterMs: number): UserAction => ({
  says: `kubectl patch: a quota of ${pods} pods`,
  when: executorRuns,
  afterMs,
  do: { type: "write", method: "PATCH", path: `${quotas}/team`, body: { spec: { hard: { pods: `${pods}` } } } },
});

const dies = (afterMs: number): UserAction => ({
  says: "an executor dies",
  when: executorRuns,
  afterMs,
  do: { type: "kill", pod: /-exec-\d+$/, code: 137 },
});

const away: Pick<UserAction, "says" | "do"> = {
  says: "the machine of an executor stands still",
  do: { type: "freeze", pod: /-exec-\d+$/, nth: 1 },
};

const held: UserAction = {
  says: "a finalizer keeps the pod of an executor",
  when: executorRuns,
  afterMs: 10_000,
  do: { type: "hold", pod: /-exec-\d+$/ },
};

const released = (afterMs: number): UserAction => ({
  says: "the finalizer is gone",
  when: executorRuns,
  afterMs,
  do: { type: "release" },
});

const volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.data";
const claims = {
  [`${volume}.mount.path`]: "/data",
  [`${volume}.options.claimName`]: "OnDemand",
  [`${volume}.options.storageClass`]: "fast",
  [`${volume}.options.sizeLimit`]: "1Gi",
} as const;

const ways: readonly Way[] = [
  {
    name: "elastic-to-and-fro",
    what: "the driver needs two executors, then far too many, then one; its answers are late, or lost",
    gauge: [
      [0, 2],
      [30_000, 400],
      [60_000, 1],
      [resyncedMs, 1],
    ],
    settles: 1,
    also: ["stale", "deaf", "timeout", "pause-12s", "slow"],
  },
  {
    name: "elastic-silent",
    what: "the gauge gives no answer, and then one without sense: the last answer stands, and then one executor is enough",
    gauge: [
      [0, 2],
      [15_000, "silent"],
      [40_000, { shows: -1 }],
      [60_000, 1],
    ],
  },
  {
    name: "elastic-lies",
    what: "the gauge shows texts, nothing, and numbers below zero, between two and beyond all bounds",
    gauge: [
      [0, 2],
      [15_000, { shows: "NaN" }],
      [25_000, { shows: -400 }],
      [35_000, { shows: null }],
      [45_000, { shows: 1e300 }],
      [55_000, { shows: [] }],
      [65_000, { shows: 1.2 }],
    ],
    settles: 2,
  },
  {
    name: "elastic-flaps",
    what: "the gauge alternates between three executors and none: no executor is ended for it",
    gauge: [
      [0, { flaps: 3 }],
      [80_000, 3],
    ],
  },
  {
    name: "elastic-backlog",
    what: "the driver needs three executors for a moment that is shorter than its backlog timeout: no second one is created",
    confs: { "spark.dynamicAllocation.schedulerBacklogTimeout": "40s" },
    spec: { dynamicAllocation: { enabled: true, initialExecutors: 1, maxExecutors: 3 } },
    gauge: [
      [0, 1],
      [30_000, 3],
      [50_000, 1],
    ],
    granted: 1,
    settles: 1,
  },
  {
    name: "elastic-loss",
    behindBy: far,
    what: "an executor dies, and is replaced within the demand",
    gauge: [[0, 2]],
    userActions: [dies(9_000)],
    settles: 2,
  },
  {
    name: "elastic-stuck",
    what: "an executor never starts: another one comes in its place",
    annotations: { ...own, "rekindle.dev/executor-pending-timeout": "15s" },
    gauge: [[0, 2]],
    executors: { "1002": { pull: "fails" }, ...idle },
    settles: 2,
  },
  {
    name: "elastic-quota",
    what: "a quota admits two executors of the three that are needed: no third is created, and the job completes",
    gauge: [[0, 3]],
    granted: 2,
    jobMs: 60_000,
    stands: [[quotas, quotaOf(4)]],
  },
  {
    name: "elastic-quota-shrinks",
    what: "a quota shrinks below what lives, and an executor dies; when it grows again, as many live as are needed",
    gauge: [
      [0, 3],
      [resyncedMs, 3],
    ],
    stands: [[quotas, quotaOf(5)]],
    userActions: [quotaBecomes(3, 10_000), dies(20_000), quotaBecomes(5, 60_000)],
    settles: 3,
  },
  {
    name: "elastic-leavers",
    what: "executors that are sent away do not end until their grace is over, while others are needed",
    gauge: [
      [0, 3],
      [20_000, 1],
      [60_000, 2],
    ],
    executors: { "*": { busyMs: 0, stopMs: 600_000 } },
    settles: 2,
  },
  {
    name: "elastic-last-holder",
    what: "fewer executors are needed, and the idle one alone holds shuffle data: it stays while the job runs",
    gauge: [
      [0, 2],
      [20_000, 1],
    ],
    executors: { "1001": { busyMs: 0, shuffleBytes: 9_000 }, "*": { busyMs: 600_000 } },
  },
  {
    name: "elastic-holders",
    what: "all executors hold shuffle data, and none is needed: they leave one after the other, but for the last",
    gauge: [
      [0, 3],
      [20_000, 1],
    ],
    executors: { "*": { busyMs: 0, shuffleBytes: 9_000, stopMs: 4_000 } },
    settles: 1,
  },
  {
    name: "elastic-claims",
    behindBy: far,
    what: "executors die one after the other, and each replacement takes the claim of a dead one",
    gauge: [[0, 2]],
    confs: claims,
    // A read that is behind may cost one.
    claims: 3,
    // A step that died is repeated before the second death.
    userActions: [dies(20_000), dies(130_000)],
    jobMs: 300_000,
  },
  {
    name: "elastic-claims-return",
    behindBy: far,
    what: "executors leave, and when others are needed, these take the claims that stayed",
    gauge: [
      [0, 3],
      [20_000, 1],
      [80_000, 3],
    ],
    confs: claims,
    claims: 3,
    settles: 3,
  },
  {
    name: "elastic-claims-held",
    behindBy: far,
    what: "an executor dies, and its pod stays in deletion: its claim is in no other pod until the pod is gone, and then in the next",
    gauge: [[0, 2]],
    confs: claims,
    // One for the executor whose claim is held, and one that a read that is behind may cost.
    claims: 4,
    userActions: [held, dies(20_000), released(80_000), dies(190_000)],
    jobMs: 360_000,
  },
  {
    name: "elastic-claims-machine",
    what: "the machine of an executor stands still until the job has ended: the executor is replaced, and its claim is in no other pod",
    gauge: [[0, 2]],
    confs: claims,
    // One for the executor on the silent machine, and one that a read that is behind may cost.
    claims: 4,
    machines: ["node-1", "node-2", "node-3"],
    userActions: [
      { ...away, when: bothRun, afterMs: 5_000 },
      // After the job: how its process ends, and when, is then of no account.
      { says: "machines go on", when: bothRun, afterMs: 620_000, do: { type: "thaw" } },
    ],
    jobMs: 480_000,
  },
  {
    name: "elastic-claims-gauge",
    what: "the driver needs three executors, one, and three again, while an executor dies: claims that stayed are used again",
    gauge: [
      [0, 3],
      [20_000, 1],
      [80_000, 3],
    ],
    confs: claims,
    // A read that is behind may cost one.
    claims: 4,
    userActions: [dies(100_000)],
    settles: 3,
  },
  {
    name: "elastic-retry",
    what: "the driver dies, and the executors of the next attempt carry its number",
    spec: { restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 5 } },
    gauge: [[0, 2]],
    driver: { runMs: 20_000, exitCode: 1 },
    jobMs: 30_000,
  },
];

/** A scenario of executors that follow their driver's demand. */
export const elasticScenario = ({
  gauge,
  granted,
  claims: most,
  evicted,
  settles,
  executors = idle,
  driver,
  confs,
  ...way
}: Way): Scenario => {
  const last = gauge.at(-1)?.[0] ?? 0;
  const fromMs = last + settledMs;
  const { jobMs = settles === undefined ? 120_000 : fromMs + standsMs + 10_000, spec: other, ...rest } = way;
  const settled = settles === undefined ? {} : { settled: { fromMs, untilMs: fromMs + standsMs, executors: settles } };
  const usual = { jobMs, gauge, executors };
  return {
    annotations: own,
    userActions: [],
    also: ["stale", "deaf"],
    ...rest,
    spec: {
      ...{ ...spec, ...other },
      sparkConf: { ...base.sparkConf, "spark.dynamicAllocation.executorIdleTimeout": `${idleMs / 1_000}s`, ...confs },
    },
    scripts: { [appName]: driver === undefined ? [usual] : [{ ...usual, ...driver }, usual] },
    demand: {
      gauge,
      idleMs,
      ...(granted === undefined ? {} : { granted }),
      ...(most === undefined ? {} : { claims: most }),
      ...(evicted === undefined ? {} : { evicted }),
      ...settled,
    },
    ends: "COMPLETED",
    breadth: "sparse",
    without: outlasting,
  };
};

export const elastic: readonly Scenario[] = ways.map(elasticScenario);
