/**
 * The driver's word, asked now and then: whether it answers, whether tasks end, whom of those that run it knows. A healthy
 * application is asked once its executors have run for a while, and then at long intervals: what is asked costs requests.
 */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, podStatus } from "../../kube/pods.ts";
import type { Care } from "./ledger.ts";
import { endingOf, executorId } from "./losses.ts";
import type { Registered } from "./registered.ts";

export type Pulse = NonNullable<Care["pulse"]>;

/** Between two questions, ms: at most, and while something is in doubt. */
const mostMs = 15 * 60_000;
const doubtMs = 60_000;

/** So many given-up executors are remembered from one question to the next. */
const mostInactive = 100;

export type Patience = { readonly registrationMs: number; readonly stallMs: number; readonly silenceMs: number };

/** Those whose process runs, and which nobody has told to end. */
export const runningAmong = (pods: readonly Stored[]): readonly Stored[] =>
  pods.filter((pod) => podStatus(pod).phase === "Running" && endingOf(pod) === undefined && !isEnding(pod));

/** When it began; one that does not say so has only just begun. */
const startOf = (pod: Stored): number =>
  instantOf(podStatus(pod).startTime ?? pod.metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY;

export type Asking = {
  readonly now: number;
  /** When the driver started. */
  readonly since: number;
  readonly patience: Patience;
  /** The user has set these times: then executors are asked for as soon as they should be registered. */
  readonly timed: boolean;
};

const intervalMs = (pulse: Pulse | undefined, { patience, timed }: Asking): number => {
  const isDoubtful = pulse?.silentSince !== undefined || pulse?.inactive !== undefined;
  // Nothing can have stalled before: until then a run is not asked at all.
  const most = pulse === undefined ? patience.stallMs : isDoubtful ? doubtMs : mostMs;
  return timed ? Math.min(most, patience.stallMs / 2, patience.silenceMs / 2) : most;
};

/** When the driver is to be asked next, epoch ms. */
export const nextQuestion = (pulse: Pulse | undefined, running: readonly Stored[], asking: Asking): number => {
  const { since, patience, timed } = asking;
  const before = pulse?.at ?? Number.NEGATIVE_INFINITY;
  const regular = (pulse?.at ?? since) + intervalMs(pulse, asking);
  const grown = timed ? running.map((pod) => startOf(pod) + patience.registrationMs) : [];
  return grown.filter((at) => at > before).reduce((a, b) => Math.min(a, b), regular);
};

const givenUp = (running: readonly Stored[], { inactive }: Registered): readonly number[] =>
  running
    .flatMap((pod) => executorId(pod) ?? [])
    .filter((id) => inactive.has(id))
    .sort((a, b) => a - b);

/** One that never answered is not missed. */
const silentSince = (before: Pulse | undefined, now: number): Pulse | undefined =>
  before === undefined || before.silentSince !== undefined ? before : { ...before, at: now, silentSince: now };

/**
 * The pulse after a question; `word` is undefined when nothing was said. What has not changed stays as it is, to the time
 * of the question, and nothing is remembered before work was seen: a run in which nothing happens is asked more often,
 * and costs no write.
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

/** Tasks run, and at this question and all since `movedAt` none had ended. */
export const isStalled = (pulse: Pulse | undefined, now: number, stallMs: number): boolean =>
  pulse?.movedAt !== undefined &&
  pulse.idle !== true &&
  pulse.silentSince === undefined &&
  now - pulse.movedAt >= stallMs;

/** Running for so long, and the driver does not know them, whether they live or not. */
export const strangers = (
  running: readonly Stored[],
  { active, inactive }: Registered,
  { now, patience }: Pick<Asking, "now" | "patience">,
): readonly Stored[] =>
  running.filter((pod) => {
    const id = executorId(pod);
    return id !== undefined && !active.has(id) && !inactive.has(id) && startOf(pod) + patience.registrationMs <= now;
  });

/** Given up by the driver at two questions, and running all the same. */
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
