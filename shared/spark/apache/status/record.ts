/**
 * The record of an application's states: the numbered history, the attempt with its counters, and the attempt before. It
 * is written as upstream's status, and read back from one, whoever wrote it.
 */
import { fieldsOf, isRecord, omit } from "../../../core/json.ts";
import { instantOf } from "../../../core/time.ts";
import { entriesIn, historyOf, messageOf, type Shown, stateOf, statesShown } from "./history.ts";
import { groupOf, isSummary, type Summary, summaries } from "./summary.ts";

export type Entry = Shown<Summary>;

export type Attempt = {
  readonly id: number;
  readonly restartCounter: number;
  readonly failureRestartCounter: number;
  readonly schedulingFailureRestartCounter: number;
};

export type History = readonly [Entry, ...Entry[]];

export type ApplicationRecord = {
  /** Ascending numbers. */
  readonly history: History;
  readonly attempt: Attempt;
  readonly previous?: { readonly attempt: Attempt; readonly history: readonly Entry[] };
};

const firstAttempt: Attempt = {
  id: 0,
  restartCounter: 0,
  failureRestartCounter: 0,
  schedulingFailureRestartCounter: 0,
};

export const currentOf = ({ history }: Pick<ApplicationRecord, "history">): Entry => history.at(-1) ?? history[0];

/** When an entry's state began, epoch ms; a time that cannot be read counts as long ago. */
export const beganAt = ({ at }: Entry): number => instantOf(at) ?? 0;

/** The newest entry of a group; undefined where the history has none. */
export const newestOf = (history: readonly Entry[], group: ReturnType<typeof groupOf>): Entry | undefined =>
  history.findLast(({ summary }) => groupOf(summary) === group);

/** The most entries of a history that is not trimmed: an object of the API server holds 1.5 MB. */
const mostEntries = 200;

/** Entries that keep the driver's status, which may be many kilobytes each. */
const mostStatuses = 3;

/** Keeps the newest entries, and the one from which the length of the attempt is counted. */
const bounded = (history: History): History => {
  const statuses = history.filter(({ driver }) => driver !== undefined).slice(-mostStatuses);
  const slim = history.map((entry) => (statuses.includes(entry) ? entry : omit(entry, "driver")));
  const begun = slim.findLast(({ summary }) => groupOf(summary) === "initializing");
  const [first = history[0], ...others] = slim.filter(
    (entry, at) => entry === begun || at >= slim.length - mostEntries,
  );
  return [first, ...others];
};

export type News = { readonly message?: string; readonly driver?: unknown };

const entryOf = (number: number, summary: Summary, now: number, { message, driver }: News): Entry => ({
  number,
  summary,
  at: new Date(now).toISOString(),
  message: messageOf(message ?? summaries[summary].message),
  ...(driver === undefined ? {} : { driver }),
});

export const submittedAt = (now: number): ApplicationRecord => ({
  history: [entryOf(0, "Submitted", now, {})],
  attempt: firstAttempt,
});

/** Appends a state. Numbers go on over attempts. */
export const withState = (
  record: ApplicationRecord,
  summary: Summary,
  now: number,
  news: News = {},
): ApplicationRecord => {
  const entry = entryOf(currentOf(record).number + 1, summary, now, news);
  return { ...record, history: bounded([...record.history, entry]) };
};

/** Begins the next attempt. `trims`: its history is its own, and that of the attempt before stands beside it. */
export const withRestart = (
  record: ApplicationRecord,
  attempt: Attempt,
  { now, trims, ...news }: Pick<News, "message"> & { readonly now: number; readonly trims: boolean },
): ApplicationRecord => {
  const entry = entryOf(currentOf(record).number + 1, "ScheduledToRestart", now, news);
  return {
    history: trims ? [entry] : bounded([...record.history, entry]),
    attempt,
    previous: { attempt: record.attempt, history: trims ? record.history : [] },
  };
};

/** The whole `status`. */
export const statusOf = (record: ApplicationRecord) => ({
  currentState: stateOf(currentOf(record)),
  stateTransitionHistory: historyOf(record.history),
  currentAttemptSummary: { attemptInfo: record.attempt },
  ...(record.previous === undefined
    ? {}
    : {
        previousAttemptSummary: {
          attemptInfo: record.previous.attempt,
          ...(record.previous.history.length === 0
            ? {}
            : { stateTransitionHistory: historyOf(record.previous.history) }),
        },
      }),
});

const countIn = (value: unknown): number => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0);

const attemptIn = (summary: unknown): Attempt => {
  const info = fieldsOf(fieldsOf(summary)["attemptInfo"]);
  return {
    id: countIn(info["id"]),
    restartCounter: countIn(info["restartCounter"]),
    failureRestartCounter: countIn(info["failureRestartCounter"]),
    schedulingFailureRestartCounter: countIn(info["schedulingFailureRestartCounter"]),
  };
};

/** Reads a status of upstream or of ours; undefined where it shows no state. */
export const recordIn = (status: unknown): ApplicationRecord | undefined => {
  const { currentAttemptSummary, previousAttemptSummary } = fieldsOf(status);
  const states = statesShown(status, isSummary);
  if (states === undefined) return undefined;
  const before = isRecord(previousAttemptSummary)
    ? {
        attempt: attemptIn(previousAttemptSummary),
        history: entriesIn(previousAttemptSummary["stateTransitionHistory"], isSummary),
      }
    : undefined;
  return {
    history: bounded(states),
    attempt: attemptIn(currentAttemptSummary),
    ...(before === undefined ? {} : { previous: before }),
  };
};
