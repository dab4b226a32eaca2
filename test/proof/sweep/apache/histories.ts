/**
 * The invariants of the history of an application of `spark.apache.org`, in a table of the judge's own.
 *
 * H1. Numbers have no gap; a state that was shown stays as it was; the status has at least two states, from Submitted on,
 *     unless the platform or Kueue holds up the first attempt, which the message of Submitted then says.
 * H2. Each state follows from the one before; an application that is not being deleted is terminated only after an end of an attempt.
 *     After an eviction by Kueue it is queued again from any state of an attempt.
 * H3. No timeout, no restart and no time to live comes before its time.
 * H4. A message is one line of at most 1,024 characters.
 */
import { at, numberAt, textAt } from "../fields.ts";
import type { Entry, Facts } from "./facts.ts";

type Blame = (what: string) => void;

const ends = ["Succeeded", "Failed", "DriverEvicted"] as const;
const running = ["RunningHealthy", "RunningWithPartialCapacity", "RunningWithBelowThresholdExecutors"] as const;
const released = "ResourceReleased";
const kept = "TerminatedWithoutReleaseResources";
const again = ["ScheduledToRestart", released, kept] as const;
const first = ["DriverRequested", "Failed", "SchedulingFailure"] as const;

const followers: Readonly<Record<string, readonly string[]>> = {
  Submitted: first,
  ScheduledToRestart: first,
  DriverRequested: ["DriverStarted", "DriverStartTimedOut", ...ends],
  DriverStarted: ["DriverReady", "DriverReadyTimedOut", ...ends],
  DriverReady: ["InitializedBelowThresholdExecutors", ...running, "ExecutorsStartTimedOut", ...ends],
  InitializedBelowThresholdExecutors: [...running, "ExecutorsStartTimedOut", ...ends],
  RunningHealthy: [...running, ...ends],
  RunningWithPartialCapacity: [...running, ...ends],
  RunningWithBelowThresholdExecutors: [...running, ...ends],
  DriverStartTimedOut: again,
  DriverReadyTimedOut: again,
  ExecutorsStartTimedOut: again,
  Succeeded: again,
  Failed: again,
  SchedulingFailure: again,
  DriverEvicted: again,
  [kept]: [released],
  [released]: [],
};

const timers: Readonly<Record<string, string>> = {
  DriverStartTimedOut: "driverStartTimeoutMillis",
  DriverReadyTimedOut: "driverReadyTimeoutMillis",
  ExecutorsStartTimedOut: "executorStartTimeoutMillis",
};

const longestMessage = 1_024;

/** The entries of a status, those of the attempt before first. */
const entriesOf = (status: unknown): readonly (readonly [number: number, state: unknown])[] =>
  [at(status, "previousAttemptSummary", "stateTransitionHistory"), at(status, "stateTransitionHistory")]
    .flatMap((history) => Object.entries(Object(history)))
    .map(([number, state]): readonly [number, unknown] => [Number(number), state])
    .sort(([a], [b]) => a - b);

/** True where an attempt is followed by another, and has not ended by itself. */
const isRequeue = (before: string, after: string): boolean =>
  after === "ScheduledToRestart" && !(followers[before] ?? []).includes(after);

/** H2: an application that is being deleted is released from any state. */
const mayFollow = (facts: Facts, before: string, after: string): boolean =>
  (followers[before] ?? []).includes(after) ||
  (isRequeue(before, after) && facts.requeues < facts.evictions) ||
  (facts.deletingAt !== undefined && after === released && before !== released);

/** H3: the least time between two states, ms. */
const leastMs = ({ tolerations }: Facts, { summary }: Entry): number => {
  const timer = timers[summary];
  return timer === undefined ? 0 : (numberAt(tolerations, "applicationTimeoutConfig", timer) ?? 300_000);
};

const checkNext = (facts: Facts, number: number, entry: Entry, blame: Blame): void => {
  const before = facts.history.get(number - 1);
  if (before === undefined) {
    if (number !== 0 || entry.summary !== "Submitted") blame(`H1: state ${number}, ${entry.summary}, follows none`);
    return;
  }
  if (!mayFollow(facts, before.summary, entry.summary)) blame(`H2: ${entry.summary} follows ${before.summary}`);
  if (isRequeue(before.summary, entry.summary)) facts.requeues += 1;
  const lasted = Date.parse(entry.at) - Date.parse(before.at);
  if (lasted < leastMs(facts, entry)) blame(`H3: ${before.summary} became ${entry.summary} after ${lasted} ms`);
};

/** Takes the states of a status, or of the record of one, into the facts; returns those that are new. */
export const hearHistory = (facts: Facts, status: unknown, blame: Blame): readonly Entry[] =>
  entriesOf(status).flatMap(([number, state]) => {
    const entry = {
      summary: textAt(state, "currentStateSummary") ?? "",
      at: textAt(state, "lastTransitionTime") ?? "",
    };
    const message = textAt(state, "message") ?? "";
    if (message.includes("\n") || message.length > longestMessage) blame(`H4: the message of ${entry.summary} is long`);
    const known = facts.history.get(number);
    if (known !== undefined) {
      if (known.summary !== entry.summary || known.at !== entry.at)
        blame(`H1: state ${number} was ${known.summary} and became ${entry.summary}`);
      return [];
    }
    checkNext(facts, number, entry, blame);
    facts.history.set(number, entry);
    return [entry];
  });

/** True of a state whose message is a trouble of the platform, or says that the application waits for its admission. */
export const isHeldUp = (state: unknown): boolean =>
  /^(held up by the platform: |waits until Kueue admits |waits for places of group )./.test(
    textAt(state, "message") ?? "",
  );

/** H1, for a status: it shows no fewer states than upstream's first one, and its newest is the present one. */
export const checkStatus = (status: unknown, blame: Blame): void => {
  const entries = entriesOf(status);
  const [number, newest] = entries.at(-1) ?? [0, undefined];
  if (textAt(newest, "currentStateSummary") !== textAt(status, "currentState", "currentStateSummary"))
    blame("H1: the present state is not the newest one of the history");
  if (number === 0 && !isHeldUp(newest)) blame("H1: Submitted is shown alone");
};

/** H3: the wait before the driver of an attempt, ms, by the state that ended the attempt before. */
export const leastWaitMs = ({ tolerations, history }: Facts): number => {
  const restart = at(tolerations, "restartConfig");
  const numbers = [...history.keys()].sort((a, b) => a - b);
  const scheduled = numbers.findLast((number) => history.get(number)?.summary === "ScheduledToRestart");
  const ended = scheduled === undefined ? undefined : history.get(scheduled - 1)?.summary;
  const usual = numberAt(restart, "restartBackoffMillis") ?? 30_000;
  if (ended !== undefined && isRequeue(ended, "ScheduledToRestart")) return 0;
  if (ended === undefined || ended === "Succeeded") return usual;
  const ofFailure = numberAt(restart, "restartBackoffMillisForFailure") ?? usual;
  return ended === "SchedulingFailure"
    ? (numberAt(restart, "restartBackoffMillisForSchedulingFailure") ?? ofFailure)
    : ofFailure;
};

/** When the newest restart was scheduled, epoch ms; undefined in the first attempt. */
export const scheduledAt = ({ history }: Facts): number | undefined => {
  const numbers = [...history.keys()].sort((a, b) => b - a);
  const newest = numbers.find((number) => history.get(number)?.summary === "ScheduledToRestart");
  return newest === undefined ? undefined : Date.parse(history.get(newest)?.at ?? "");
};

export const isReleased = (summary: string): boolean => summary === released;
export const isKept = (summary: string): boolean => summary === kept;
export const isState = (text: string): boolean => Object.hasOwn(followers, text);
