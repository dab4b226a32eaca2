/** Decides after the end of an attempt whether another one follows, what its counters are, and how long it waits. */
import type { Tolerations } from "../spec/read.ts";
import { type ApplicationRecord, type Attempt, beganAt, currentOf, newestOf } from "./record.ts";
import { groupOf, isFailure, isInfrastructureFailure, type Summary } from "./summary.ts";

type Restart = Tolerations["restart"];

const restartsAfter: Readonly<Record<Restart["policy"], (ended: Summary) => boolean>> = {
  Never: () => false,
  Always: () => true,
  OnFailure: isFailure,
  OnInfrastructureFailure: isInfrastructureFailure,
};

/** True if the attempt lasted so long that its restart counts as the first one. */
const resets = (record: ApplicationRecord, { resetMs }: Restart): boolean => {
  const begun = newestOf(record.history, "initializing");
  return resetMs !== undefined && begun !== undefined && beganAt(currentOf(record)) - beganAt(begun) >= resetMs;
};

const nextAttempt = (record: ApplicationRecord, restart: Restart): Attempt => {
  const { id, restartCounter, failureRestartCounter, schedulingFailureRestartCounter } = record.attempt;
  const ended = currentOf(record).summary;
  const reset = resets(record, restart);
  return {
    id: id + 1,
    restartCounter: reset ? 1 : restartCounter + 1,
    failureRestartCounter: reset || !isFailure(ended) ? 0 : failureRestartCounter + 1,
    schedulingFailureRestartCounter: reset || ended !== "SchedulingFailure" ? 0 : schedulingFailureRestartCounter + 1,
  };
};

/** The name of the limit that the next attempt would exceed. A limit of scheduling failures replaces that of failures. */
const exceeded = (next: Attempt, ended: Summary, restart: Restart): string | undefined => {
  if (next.restartCounter > restart.maxAttempts) return `maxRestartAttempts of ${restart.maxAttempts}`;
  const { maxOnFailure, maxOnSchedulingFailure } = restart;
  if (ended === "SchedulingFailure" && maxOnSchedulingFailure !== undefined)
    return next.schedulingFailureRestartCounter > maxOnSchedulingFailure
      ? `maxRestartOnSchedulingFailure of ${maxOnSchedulingFailure}`
      : undefined;
  return isFailure(ended) && maxOnFailure !== undefined && next.failureRestartCounter > maxOnFailure
    ? `maxRestartOnFailure of ${maxOnFailure}`
    : undefined;
};

export type AfterEnd =
  | { readonly next: Attempt }
  /** `limit`: the limit that ended the restarts; absent where the policy restarts nothing. */
  | { readonly limit: string | undefined };

/** Decides in a state that ends an attempt. */
export const afterEnd = (record: ApplicationRecord, restart: Restart): AfterEnd => {
  const ended = currentOf(record).summary;
  if (!restartsAfter[restart.policy](ended)) return { limit: undefined };
  const next = nextAttempt(record, restart);
  const limit = exceeded(next, ended, restart);
  return limit === undefined ? { next } : { limit };
};

/** The wait before the next attempt, ms, by the state that ended the last one. */
const backoffMs = (ended: Summary | undefined, restart: Restart): number => {
  const { backoffMs: usual, backoffOnFailureMs, backoffOnSchedulingFailureMs } = restart;
  if (ended === undefined || !isFailure(ended)) return usual;
  const ofFailure = backoffOnFailureMs ?? usual;
  return ended === "SchedulingFailure" ? (backoffOnSchedulingFailureMs ?? ofFailure) : ofFailure;
};

const entriesOf = ({ previous, history }: ApplicationRecord) => [...(previous?.history ?? []), ...history];

/** True where the attempt before did not end by itself: Kueue took its quota, which spends no restart and needs no backoff. */
export const isRequeued = (record: ApplicationRecord): boolean => {
  const before = entriesOf(record).at(-2);
  const isScheduled = currentOf(record).summary === "ScheduledToRestart";
  return isScheduled && before !== undefined && groupOf(before.summary) !== "stopping";
};

/** When the scheduled attempt may begin, epoch ms. */
export const restartsAt = (record: ApplicationRecord, restart: Restart): number => {
  if (isRequeued(record)) return beganAt(currentOf(record));
  const last = entriesOf(record).findLast(({ summary }) => groupOf(summary) === "stopping");
  return beganAt(currentOf(record)) + backoffMs(last?.summary, restart);
};
