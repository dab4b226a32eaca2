/**
 * Decides how many executors to create now, and under which ids: the expected number less those that run or may be on
 * their way, at a rate that the annotations set, else Spark's confs, else Rekindle's defaults. Pending executors hold
 * others up only while they are young: one that never starts must not keep the rest from being replaced. Also selects
 * the surplus executors to delete: pending ones first, then idle ones without data, then idle ones that hold shuffle
 * data or cached blocks, and busy ones only by `force`. Data that a job may need moves to another executor.
 */
import { backoffOf } from "../../core/time.ts";
import type { WaitingOn } from "../../core/waiting-on.ts";
import { countIn, msIn, type Texts } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { isDynamic } from "../schema/rules.ts";
import { type Allotment, handedOut, isLiving, type Member } from "./allotment.ts";
import { countOfIds, idsOf, textOfIds } from "./ids.ts";

export type Pace = {
  /** The most executors created within one interval. */
  readonly batch: number;
  readonly intervalMs: number;
  /** The most young pending pods. */
  readonly maxPending: number;
  /** The most ids of one run: Spark's own allocator stops before the id that is its maximum. */
  readonly mostIds: number;
  /** Time for which a pod counts as young. */
  readonly registrationMs: number;
};

export type Need = {
  readonly expected: number;
  readonly members: readonly Member[];
  /** The allotment after the read of the members. */
  readonly allotment: Allotment;
  /** The number of executors that exited with 0 before the driver said that the application goes on. */
  readonly unsure: number;
  readonly pace: Pace;
  /** The API server's clock, epoch ms. */
  readonly now: number;
  /** The time, epoch ms, by which a few prompt creations have arrived; undefined where creations are not prompt. */
  readonly promptUntil: number | undefined;
};

/** The most creations that are prompt: they begin soon after the first read or not at all. */
export const mostPrompt = 16;

export type Allocation = {
  /** New ids, saved before their pods are created. */
  readonly ids: readonly number[];
  readonly allotment: Allotment;
  /** The time at which more may be created, epoch ms; undefined when no timer is needed. */
  readonly wakeAt: number | undefined;
  /** The reason why executors are not created. */
  readonly waitsFor?: WaitingOn;
  /** Executors are missing, and the run has used all its ids. */
  readonly exhausted?: true;
};

/** Crashes in a row that cause no wait; one for every executor, where these are more. */
const forgiven = 5;
const longestWaitMs = 300_000;

/** The most crashes in a row after which replacements come without a wait. */
export const crashesBefore = (expected: number): number => Math.max(forgiven, expected);

/** The end of the wait after crashes in a row, epoch ms: it doubles with every round of them. */
const heldUntil = ({ crashes }: Allotment, expected: number): number => {
  const free = crashesBefore(expected);
  if (crashes === undefined || crashes.count <= free) return 0;
  const rounds = Math.floor((crashes.count - free - 1) / Math.max(1, expected));
  return crashes.at + backoffOf(rounds, 5_000, longestWaitMs);
};

export const underwayIn = ({ underway }: Pick<Allotment, "underway">): number =>
  underway.reduce((sum, { ids }) => sum + countOfIds(idsOf(ids)), 0);

/** The number of young pending executors, and the time when the oldest is no longer young. */
const waiting = ({ members, allotment, pace, now }: Need): { readonly count: number; readonly until: number } => {
  const young = members.filter(({ state, createdAt }) => state === "pending" && createdAt + pace.registrationMs > now);
  const until = Math.min(...young.map(({ createdAt }) => createdAt + pace.registrationMs));
  return { count: young.length + underwayIn(allotment), until };
};

/** The creations of the current interval, and its start. */
const roomIn = ({ allotment: { window }, pace, now }: Need): { readonly made: number; readonly at: number } =>
  window === undefined || now >= window.at + pace.intervalMs ? { made: 0, at: now } : window;

export const shortage = ({ expected, members, allotment, unsure }: Need): number =>
  expected - members.filter(isLiving).length - underwayIn(allotment) - unsure;

const arrives = ({ promptUntil: until }: Need, made: number): { until?: number } =>
  until === undefined || made > mostPrompt ? {} : { until };

const exhausted = ({ pace: { mostIds } }: Need, short: number): Pick<Allocation, "exhausted" | "waitsFor"> => ({
  exhausted: true,
  waitsFor: { on: "executorIds", short, most: mostIds },
});

export const allocate = (need: Need): Allocation => {
  const { allotment, expected, pace, now } = need;
  const short = shortage(need);
  if (short <= 0) return { ids: [], allotment, wakeAt: undefined };
  const idsLeft = Math.max(0, pace.mostIds - handedOut(allotment));
  if (idsLeft === 0) return { ids: [], allotment, wakeAt: undefined, ...exhausted(need, short) };
  const held = heldUntil(allotment, expected);
  if (held > now) {
    const waitsFor = { on: "crashes", count: allotment.crashes?.count ?? 0 } as const;
    return { ids: [], allotment, wakeAt: held, waitsFor };
  }
  const window = roomIn(need);
  const { count, until } = waiting(need);
  const room = pace.batch - window.made;
  const made = Math.max(0, Math.min(short, room, pace.maxPending - count, idsLeft));
  const { next } = allotment;
  const after: Allotment = {
    ...allotment,
    next: next + made,
    underway:
      made === 0
        ? allotment.underway
        : [...allotment.underway, { ids: textOfIds([[next, next + made - 1]]), at: now, ...arrives(need, made) }],
    ...(made === 0 ? {} : { window: { at: window.at, made: window.made + made } }),
  };
  const left = short - made;
  const ids = Array.from({ length: made }, (_, at) => next + at);
  if (left > 0 && made === idsLeft) return { ids, allotment: after, wakeAt: undefined, ...exhausted(need, left) };
  const nextAt = room - made <= 0 ? window.at + pace.intervalMs : until;
  return {
    ids,
    allotment: after,
    wakeAt: left > 0 && Number.isFinite(nextAt) ? nextAt : undefined,
  };
};

type RatePolicies = {
  readonly executorBatch: number | undefined;
  readonly executorIntervalMs: number | undefined;
  readonly executorMaxPending: number | undefined;
  readonly registrationMs: number;
};

const defaultBatch = 500;
/** The most executors created in one step, whatever the settings say: building more would delay every other application. */
export const mostInBatch = 1_000;
const defaultIntervalMs = 1_000;

/** The limit of pending pods. An own run has one resource profile, so both limits apply to all its executors. */
const pendingIn = (confs: Texts): number =>
  Math.min(
    ...["maxPendingPods", "maxPendingPodsPerRp"].map(
      (name) => countIn(confs, `spark.kubernetes.allocation.${name}`) ?? Number.POSITIVE_INFINITY,
    ),
  );

export const batchConf = "spark.kubernetes.allocation.batch.size";
const maximumConf = "spark.kubernetes.allocation.maximum";

/** The batch size in the user's confs. */
export const batchIn = (confs: Texts): number | undefined => countIn(confs, batchConf);

/** `confs` are the user's own. */
export const paceOf = (policies: RatePolicies, confs: Texts, { executors }: Pick<Rules, "executors">): Pace => ({
  batch: Math.min(mostInBatch, policies.executorBatch ?? batchIn(confs) ?? defaultBatch),
  mostIds: executors.maximum ? (countIn(confs, maximumConf) ?? Number.POSITIVE_INFINITY) - 1 : Number.POSITIVE_INFINITY,
  intervalMs:
    policies.executorIntervalMs ?? msIn(confs, "spark.kubernetes.allocation.batch.delay") ?? defaultIntervalMs,
  maxPending: policies.executorMaxPending ?? pendingIn(confs),
  registrationMs: policies.registrationMs,
});

const decommission = "spark.decommission.enabled";
const storage = "spark.storage.decommission.enabled";

/**
 * Confs with which an executor that is told to end moves its data to others first. The interval is also the time until
 * an executor sees that nothing is left to move: Spark's own of 30 s is as long as a pod's usual grace.
 */
export const decommissionConfs: readonly (readonly [key: string, value: string])[] = [
  [decommission, "true"],
  [storage, "true"],
  ["spark.storage.decommission.replicationReattemptInterval", "2s"],
];

/** True when executors of the run move their data before they end: by the user's confs, or by Rekindle's own. */
export const isMigrating = (spec: SparkApplicationSpec, own: boolean): boolean =>
  [decommission, storage].every((key) => {
    const text = spec.sparkConf?.[key]?.trim().toLowerCase();
    return text === undefined ? own && isDynamic(spec) : text === "true";
  });

/** The data of executors, which is to outlive them; see `Registered`. */
export type Data = {
  readonly holders: ReadonlySet<number>;
  /** Executors move their data before they end. */
  readonly moves: boolean;
  /** A job is running, which may need the data. */
  readonly needed: boolean;
};

export type Surplus = {
  readonly expected: number;
  readonly members: readonly Member[];
  /** Ids with running tasks, by the driver; undefined while it gives no answer. */
  readonly busy: ReadonlySet<number> | undefined;
  /** Busy executors may be deleted, too. */
  readonly force: boolean;
  /** Absent: data is of no account, because the user sets the number of executors. */
  readonly data?: Data | undefined;
};

export type ShrinkResult = {
  readonly leaving: readonly Member[];
  /** The number of surplus executors that are busy, of unknown state, or hold data. */
  readonly kept: number;
};

const never = Number.POSITIVE_INFINITY;

/** The cost of a deletion: pending 0, idle 1, idle with data 2, busy 3; infinite for one that may not be deleted. */
const costOf = ({ busy, force, data }: Surplus, { id, state }: Member): number => {
  if (state === "pending") return 0;
  if (busy === undefined) return never;
  // A running executor that the driver does not know has no tasks.
  if (busy.has(id)) return force ? 3 : never;
  return data?.holders.has(id) === true ? 2 : 1;
};

/**
 * The number of holders of data that may leave now. They leave one after the other, because an executor that leaves
 * takes no data of others, and the last one stays while a job runs. Data that does not move stays where it is.
 */
const holdersFree = ({ members, force, data }: Surplus): number => {
  if (data === undefined || force) return never;
  if (!data.moves || members.some(({ state }) => state === "ending")) return 0;
  const holders = members.filter((member) => isLiving(member) && data.holders.has(member.id)).length;
  return data.needed && holders <= 1 ? 0 : 1;
};

/** Selects from the living executors; of equals the youngest go first. */
export const shrink = (surplus: Surplus): ShrinkResult => {
  const living = surplus.members.filter(isLiving);
  const excess = Math.max(0, living.length - surplus.expected);
  const mostHolders = holdersFree(surplus);
  const ranked = living
    .map((member) => ({ member, cost: costOf(surplus, member) }))
    .filter(({ cost }) => Number.isFinite(cost))
    .sort((a, b) => a.cost - b.cost || b.member.id - a.member.id);
  const holders = ranked.filter(({ cost }) => cost === 2).slice(0, mostHolders);
  const leaving = ranked
    .filter((one) => one.cost !== 2 || holders.includes(one))
    .slice(0, excess)
    .map(({ member }) => member);
  return { leaving, kept: excess - leaving.length };
};
