/**
 * Converts between API timestamps and epoch milliseconds, and computes waits that double with each failure. Nothing
 * here reads a clock.
 */

/** Returns the epoch ms of an API timestamp; undefined if it is not one. */
export const instantOf = (time: string | null | undefined): number | undefined => {
  const at = time === null || time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
};

/** Beyond any timestamp of the API, and small enough to stay a valid JavaScript date after a duration is added. */
const furthestMs = 4e15;

/** True for a possible instant; a larger number is damage. */
export const isInstant = (at: number): boolean => Math.abs(at) <= furthestMs;

/** Formats an instant as the API does: RFC 3339, whole seconds, UTC. */
export const timeText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** The `Date` of a live answer and the process's monotonic time of that answer. Both in ms. */
export type Epoch = { readonly date: number; readonly at: number };

/** Returns the API server's present time, in whole seconds as in `Date`, epoch ms. */
export const dateAt = ({ date, at }: Epoch, monotonic: number): number =>
  date + Math.floor(Math.max(0, monotonic - at) / 1_000) * 1_000;

/** Returns the wait after `times` earlier waits, ms: `firstMs` for none, doubled for each, `longestMs` at most. */
export const backoffOf = (times: number, firstMs: number, longestMs: number): number =>
  Math.min(longestMs, firstMs * 2 ** Math.min(times, 30));
