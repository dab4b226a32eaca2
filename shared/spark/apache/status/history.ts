/**
 * The states in a status of `spark.apache.org`, whoever wrote it: a map of numbers to states, as upstream's. Each kind has
 * states of its own.
 */
import * as z from "zod";
import { fieldsOf, isRecord } from "../../../core/json.ts";
import { oneLine, startOf } from "../../../core/text.ts";

export type Shown<State extends string> = {
  readonly number: number;
  readonly summary: State;
  /** RFC 3339; upstream's has nanoseconds, which are kept as they are. */
  readonly at: string;
  readonly message?: string;
  /** The status of the driver pod that the state was decided on. */
  readonly driver?: unknown;
};

type IsState<State extends string> = (text: unknown) => text is State;

/** Longest message, characters. */
const longestMessage = 1_024;

/** A message as a status holds it. */
export const messageOf = (text: string): string => startOf(oneLine(text), longestMessage);

/** A state as the status shows it. */
export const stateOf = ({ summary, at, message, driver }: Shown<string>) => ({
  currentStateSummary: summary,
  lastTransitionTime: at,
  ...(message === undefined ? {} : { message }),
  ...(driver === undefined ? {} : { lastObservedDriverStatus: driver }),
});

/** A trouble of the platform as the message of a state. */
export const heldUpText = (trouble: string): string => `held up by the platform: ${trouble}`;

/** The status with another message of its present state; undefined without a state, and for one whose own message `stays`. */
export const statusSaying = <State extends string>(
  status: Readonly<Record<string, unknown>>,
  message: string,
  { isState, stays }: { readonly isState: IsState<State>; readonly stays: (summary: State) => boolean },
): Readonly<Record<string, unknown>> | undefined => {
  const newest = statesShown(status, isState)?.at(-1);
  if (newest === undefined || stays(newest.summary)) return undefined;
  const state = stateOf({ ...newest, message: messageOf(message) });
  const history = { ...fieldsOf(status["stateTransitionHistory"]), [newest.number]: state };
  return { ...status, currentState: state, stateTransitionHistory: history };
};

export const historyOf = (entries: readonly Shown<string>[]) =>
  Object.fromEntries(entries.map((entry) => [`${entry.number}`, stateOf(entry)]));

const entryIn = <State extends string>(
  number: number,
  value: unknown,
  isState: IsState<State>,
): readonly Shown<State>[] => {
  const {
    currentStateSummary: summary,
    lastTransitionTime: at,
    message,
    lastObservedDriverStatus: driver,
  } = fieldsOf(value);
  if (!isState(summary) || typeof at !== "string") return [];
  const rest = { ...(typeof message === "string" ? { message } : {}), ...(isRecord(driver) ? { driver } : {}) };
  return [{ number, summary, at, ...rest }];
};

/** The states of a history, by ascending numbers. */
export const entriesIn = <State extends string>(history: unknown, isState: IsState<State>): readonly Shown<State>[] =>
  Object.entries(fieldsOf(history))
    .filter(([key]) => /^\d{1,9}$/.test(key))
    .flatMap(([key, state]) => entryIn(Number(key), state, isState))
    .sort((a, b) => a.number - b.number);

/** The states that a status shows; a history without any has the present one. */
export const statesShown = <State extends string>(
  status: unknown,
  isState: IsState<State>,
): readonly [Shown<State>, ...Shown<State>[]] | undefined => {
  const { currentState, stateTransitionHistory } = fieldsOf(status);
  const entries = entriesIn(stateTransitionHistory, isState);
  const [first, ...others] = entries.length > 0 ? entries : entryIn(0, currentState, isState);
  return first === undefined ? undefined : [first, ...others];
};

/** Strict, unlike the reader of statuses that others wrote: no part of a damaged record is left out in silence. */
export const recordedState = (isState: IsState<string>) =>
  z.looseObject({
    currentStateSummary: z.string().refine(isState, "it is not a state"),
    lastTransitionTime: z.string(),
    message: z.string().optional(),
  });
