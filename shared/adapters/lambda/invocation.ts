/** What Lambda tells of an invocation beside its event: the time that is left, and of a schedule which of its runs this is. */
import * as z from "zod";

/** Lambda's own default is too short to be meant; whoever calls without a context has all the time of a usual function. */
const usualMs = 30_000;

const hasRemaining = (context: unknown): context is { getRemainingTimeInMillis(): unknown } =>
  typeof context === "object" &&
  context !== null &&
  "getRemainingTimeInMillis" in context &&
  typeof context.getRemainingTimeInMillis === "function";

/** Milliseconds until the environment is stopped. */
export const remainingMsOf = (context: unknown): number => {
  const left = hasRemaining(context) ? context.getRemainingTimeInMillis() : usualMs;
  return typeof left === "number" && Number.isFinite(left) ? left : usualMs;
};

const scheduled = z.object({ id: z.string().min(1).max(200) });

/** The id of a schedule's run: Lambda's own repeat of it has the same. Undefined when the event carries none. */
export const runOf = (event: unknown): string | undefined => scheduled.safeParse(event).data?.id;
