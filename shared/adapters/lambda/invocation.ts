/** The context of a Lambda invocation: the remaining time, and the id of a scheduled run. */
import * as z from "zod";

/** Time of an invocation without a context, ms: that of a usual function, because Lambda's own default is too short. */
const usualMs = 30_000;

const hasRemaining = (context: unknown): context is { getRemainingTimeInMillis(): unknown } =>
  typeof context === "object" &&
  context !== null &&
  "getRemainingTimeInMillis" in context &&
  typeof context.getRemainingTimeInMillis === "function";

/** Returns the milliseconds until Lambda stops the invocation. */
export const remainingMsOf = (context: unknown): number => {
  const left = hasRemaining(context) ? context.getRemainingTimeInMillis() : usualMs;
  return typeof left === "number" && Number.isFinite(left) ? left : usualMs;
};

const scheduled = z.object({ id: z.string().min(1).max(200) });

/** Returns the id of a scheduled run, which Lambda's own retry of it shares; undefined if the event has none. */
export const runOf = (event: unknown): string | undefined => scheduled.safeParse(event).data?.id;
