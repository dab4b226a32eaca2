/** Waits that double with each failure. */

/** Returns the wait after `times` earlier waits, ms: `firstMs` for none, doubled for each, `longestMs` at most. */
export const backoffOf = (times: number, firstMs: number, longestMs: number): number =>
  Math.min(longestMs, firstMs * 2 ** Math.min(times, 30));
