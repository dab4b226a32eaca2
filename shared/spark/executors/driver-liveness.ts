/**
 * Checks the driver's liveness by its REST API: whether it answers, whether tasks end, which executors it knows. A
 * healthy application is asked once its executors have run for a while, and then rarely: each question costs requests.
 */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";
import type { Care } from "./ledger.ts";
import { endingOf, executorId } from "./losses.ts";
import type { Registered } from "./registered.ts";

export type Pulse = NonNullable<Care["pulse"]>;

/** Interval of the questions, ms: at most, and while there is a doubt. */
const mostMs = 15 * 60_000;
const doubtMs = 60_000;

/** The most given-up executors remembered between two questions. */
const mostInactive = 100;

export type Patience = { readonly registrationMs: number; readonly stallMs: number; readonly silenceMs: number };

/** Executors whose process runs and that are not being deleted. */
export const runningAmong = (pods: readonly Stored[]): readonly Stored[] =>
  pods.filter((pod) => podStatus(pod).phase === "Running" && endingOf(pod) === undefined && !isEnding(pod));

/** Start of the pod, epoch ms; infinity when it shows none, as if it had just begun. */
const startOf = (pod: Stored): number =>
  instantOf(podStatus(pod).startTime ?? pod.metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY;

export type Asking = {
  readonly now: number;
  /** Start of the driver, epoch ms. */
  readonly since: number;
  readonly limits: Patience;
  /** The user has set these times: executors are asked for as soon as they should be registered. */
  readonly timed: boolean;
};

const intervalMs = (pulse: Pulse | undefined, { limits, timed }: Asking): number => {
  const isDoubtful = pulse?.silentSince !== undefined || pulse?.inactive !== undefined;
  // Before that no driver can have stalled, so it is not asked.
  const most = pulse === undefined ? limits.stallMs : isDoubtful ? doubtMs : mostMs;
  return timed ? Math.min(most, limits.stallMs / 2, limits.silenceMs / 2) : most;
};

/** The time of the next question, epoch ms. */
export const nextQuestion = (pulse: Pulse | undefined, running: readonly Stored[], asking: Asking): number => {
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
 * of its question, and no pulse is kept before a task was seen: an idle run is asked more often, and costs no write.
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
export const strangers = (
  running: readonly Stored[],
  { active, inactive }: Registered,
  { now, limits }: Pick<Asking, "now" | "limits">,
): readonly Stored[] =>
  running.filter((pod) => {
    const id = executorId(pod);
    return id !== undefined && !active.has(id) && !inactive.has(id) && startOf(pod) + limits.registrationMs <= now;
  });

/** Executors that the driver had given up at two questions, and that still run. */
export const disowned = (
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
