/** The engine's time limits, in milliseconds; `timing` is what a deployment gets unless it says otherwise. */

export type Timing = {
  /** No effect starts later than this after the save that planned it. */
  readonly fenceMs: number;
  /** The longest that one request may take; after fence and timeout nothing of a step can still arrive. */
  readonly requestTimeoutMs: number;
  /** A step leaves before this, of a function's 30 s. */
  readonly stepMs: number;
  /** Writes in flight at once within a stage. */
  readonly parallel: number;
};

export const timing: Timing = { fenceMs: 10_000, requestTimeoutMs: 5_000, stepMs: 20_000, parallel: 8 };

/**
 * How long after a save that planned a driver the next driver may begin: fence and request timeout, and one second
 * because the API server's `Date` is cut to whole seconds.
 */
export const settledMs = (timing: Timing): number => timing.fenceMs + timing.requestTimeoutMs + 1_000;
