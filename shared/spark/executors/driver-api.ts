/**
 * The driver's REST API, through the API server's pod proxy: which executors the driver knows, whether it answers, and
 * whether tasks end. A healthy application is queried once its executors have run for a while, and then rarely,
 * because each query costs requests.
 */
import * as z from "zod";
import type { Ref, Stored } from "../../core/object.ts";
import type { ProbeResult, Query } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";
import type { Care } from "./ledger.ts";
import { endingOf, executorId } from "./losses.ts";

/** A whole number. Of larger ones a sum may be none that a record can hold. */
const amount = z.int();

const entry = z.looseObject({
  id: z.string(),
  isActive: z.boolean(),
  activeTasks: amount.optional(),
  completedTasks: amount.optional(),
  failedTasks: amount.optional(),
  totalShuffleWrite: amount.optional(),
  rddBlocks: amount.optional(),
  peakMemoryMetrics: z.looseObject({ JVMHeapMemory: amount }).optional().catch(undefined),
});

/** Numeric ids; the driver itself is an entry without one. */
export type Registered = {
  readonly active: ReadonlySet<number>;
  /** Executors that the driver knows and has given up. */
  readonly inactive: ReadonlySet<number>;
  /** Active executors with running tasks. */
  readonly busy: ReadonlySet<number>;
  /** Active executors that have written shuffle data or hold cached blocks: somebody may still need them. */
  readonly holders: ReadonlySet<number>;
  readonly runningTasks: number;
  /** Completed and failed tasks of all executors that the driver remembers. */
  readonly endedTasks: number;
  readonly words: NonNullable<Pulse["words"]>;
};

/** The most bytes of one executor in the answer, and the least limit of an answer. */
const bytesEach = 2_048;
const leastBytes = 1_048_576;

/**
 * The query of the driver's executors. `executors`: the most in it, with dead ones (spark.ui.retainedDeadExecutors).
 */
export const registeredQuery = (
  pod: Ref,
  port: number,
  applicationId: string,
  executors: number,
): Extract<Query, { do: "proxyGet" }> => ({
  do: "proxyGet",
  pod,
  port,
  path: ["api", "v1", "applications", applicationId, "allexecutors"],
  ...(executors * bytesEach > leastBytes ? { mostBytes: executors * bytesEach } : {}),
});

type Entry = z.infer<typeof entry>;

const idsWhere = (entries: readonly Entry[], holds: (one: Entry) => boolean): ReadonlySet<number> =>
  new Set(
    entries
      .filter(({ id }) => /^\d{1,9}$/.test(id))
      .filter(holds)
      .map(({ id }) => Number(id)),
  );

const sum = (entries: readonly Entry[], of: (one: Entry) => number | undefined): number =>
  entries.reduce((total, one) => total + (of(one) ?? 0), 0);

/** Parses the entries up to the first invalid one, so that a large invalid answer costs one entry. */
const entriesIn = (value: unknown): readonly Entry[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const entries: Entry[] = [];
  for (const one of value) {
    const { data } = entry.safeParse(one);
    if (data === undefined) return undefined;
    entries.push(data);
  }
  return entries;
};

/** The registered executors; undefined when the driver gave no valid answer: its registrations are then unknown. */
export const registeredIn = (hearing: ProbeResult): Registered | undefined => {
  const entries = hearing.heard ? entriesIn(hearing.value) : undefined;
  if (entries === undefined) return undefined;
  const active = idsWhere(entries, ({ isActive }) => isActive);
  const runningTasks = sum(entries, ({ isActive, activeTasks }) => (isActive ? activeTasks : 0));
  const failed = sum(entries, ({ failedTasks }) => failedTasks);
  const heap = entries.reduce((most, { peakMemoryMetrics: peak }) => Math.max(most, peak?.JVMHeapMemory ?? 0), 0);
  return {
    active,
    inactive: idsWhere(entries, ({ isActive }) => !isActive),
    busy: idsWhere(entries, ({ isActive, activeTasks = 0 }) => isActive && activeTasks > 0),
    holders: idsWhere(
      entries,
      ({ isActive, totalShuffleWrite = 0, rddBlocks = 0 }) => isActive && totalShuffleWrite + rddBlocks > 0,
    ),
    runningTasks,
    words: {
      executors: active.size,
      running: runningTasks,
      failed,
      shuffle: sum(entries, (one) => one.totalShuffleWrite),
      heap,
    },
    endedTasks: sum(entries, ({ completedTasks = 0, failedTasks = 0 }) => completedTasks + failedTasks),
  };
};

export type Pulse = NonNullable<Care["pulse"]>;

/** Interval of the questions, ms: at most, and while there is a doubt. */
const mostMs = 15 * 60_000;
const doubtMs = 60_000;

/** The most given-up executors remembered between two questions. */
const mostInactive = 100;

export type DriverTimeouts = { readonly registrationMs: number; readonly stallMs: number; readonly silenceMs: number };

/** Executors whose process runs and that are not being deleted. */
export const runningAmong = (pods: readonly Stored[]): readonly Stored[] =>
  pods.filter((pod) => podStatus(pod).phase === "Running" && endingOf(pod) === undefined && !isEnding(pod));

/** Start of the pod, epoch ms; infinity when it shows none, as if it had just begun. */
const startOf = (pod: Stored): number =>
  instantOf(podStatus(pod).startTime ?? pod.metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY;

export type RegistrationLimits = {
  readonly now: number;
  /** Start of the driver, epoch ms. */
  readonly since: number;
  readonly limits: DriverTimeouts;
  /** The user has set these times: executors are asked for as soon as they should be registered. */
  readonly timed: boolean;
};

const intervalMs = (pulse: Pulse | undefined, { limits, timed }: RegistrationLimits): number => {
  const isDoubtful = pulse?.silentSince !== undefined || pulse?.inactive !== undefined;
  // Before that no driver can have stalled, so it is not queried.
  const most = pulse === undefined ? limits.stallMs : isDoubtful ? doubtMs : mostMs;
  return timed ? Math.min(most, limits.stallMs / 2, limits.silenceMs / 2) : most;
};

/** The time of the next question, epoch ms. */
export const nextQuestion = (
  pulse: Pulse | undefined,
  running: readonly Stored[],
  asking: RegistrationLimits,
): number => {
  const { since, limits, timed } = asking;
  const before = pulse?.at ?? Number.NEGATIVE_INFINITY;
  const regular = (pulse?.at ?? since) + intervalMs(pulse, asking);
  const grown = timed ? running.map((pod) => startOf(pod) + limits.registrationMs) : [];
  return grown.filter((at) => at > before).reduce((a, b) => Math.min(a, b), regular);
};

const givenUp = (running: readonly Stored[], { inactive }: Registered): readonly number[] =>
  running
    .flatMap((pod) => executorId(pod) ?? [])
    .filter((id) => inactive.has(id))
    .sort((a, b) => a - b);

/** Notes the start of a silence; a driver that never answered is not silent. */
const silentSince = (before: Pulse | undefined, now: number): Pulse | undefined =>
  before === undefined || before.silentSince !== undefined ? before : { ...before, at: now, silentSince: now };

/**
 * The pulse after a question; `word` is undefined without an answer. An unchanged pulse stays the same, with the time
 * of its question, and no pulse is kept before a task was seen: the driver of an idle run is queried more often, and costs no write.
 */
export const pulseAfter = (
  before: Pulse | undefined,
  word: Registered | undefined,
  running: readonly Stored[],
  now: number,
): Pulse | undefined => {
  if (word === undefined) return silentSince(before, now);
  const { endedTasks: tasks, runningTasks } = word;
  const idle = runningTasks === 0;
  const stands = before?.tasks === tasks && (before.idle ?? false) === idle;
  const inactive = givenUp(running, word).slice(0, mostInactive);
  const doubts = inactive.length > 0 || before?.inactive !== undefined;
  if (before === undefined ? idle && !doubts : stands && !doubts && before.silentSince === undefined) return before;
  return {
    at: now,
    tasks,
    movedAt: stands ? (before?.movedAt ?? now) : now,
    words: word.words,
    ...(idle ? { idle } : {}),
    ...(inactive.length === 0 ? {} : { inactive: [...inactive] }),
  };
};

/** True when tasks run and none has ended for `stallMs`. */
export const isStalled = (pulse: Pulse | undefined, now: number, stallMs: number): boolean =>
  pulse?.movedAt !== undefined &&
  pulse.idle !== true &&
  pulse.silentSince === undefined &&
  now - pulse.movedAt >= stallMs;

/** Executors that have run for the registration timeout and that the driver does not know. */
export const unregisteredWithDriver = (
  running: readonly Stored[],
  { active, inactive }: Registered,
  { now, limits }: { readonly now: number; readonly limits: Pick<DriverTimeouts, "registrationMs"> },
): readonly Stored[] =>
  running.filter((pod) => {
    const id = executorId(pod);
    return id !== undefined && !active.has(id) && !inactive.has(id) && startOf(pod) + limits.registrationMs <= now;
  });

/** Executors that the driver had given up at two questions, and that still run. */
export const givenUpByDriver = (
  running: readonly Stored[],
  before: Pulse | undefined,
  word: Registered,
): readonly Stored[] => {
  const doubted = new Set(before?.inactive ?? []);
  return running.filter((pod) => {
    const id = executorId(pod);
    return id !== undefined && doubted.has(id) && word.inactive.has(id);
  });
};
