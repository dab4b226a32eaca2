/** The engine's time limits, in milliseconds. `timing` holds the defaults of a deployment. */

export type Timing = {
  /**
   * No effect starts later than this after the save that planned it, and no creation later than this after the step's
   * first read.
   */
  readonly fenceMs: number;
  /** The longest time of one request. After fence and request timeout, no write of a step can still arrive. */
  readonly requestTimeoutMs: number;
  /** A step starts no effect later than this after its beginning; a function has 30 s. */
  readonly stepMs: number;
  /** Writes in flight at once within a stage. */
  readonly parallel: number;
};

export const timing: Timing = { fenceMs: 10_000, requestTimeoutMs: 5_000, stepMs: 20_000, parallel: 8 };

/**
 * Returns the time from the first read (`view.now`) of a step that planned a driver until the next driver may begin:
 * fence and request timeout, and one second because the API server's `Date` is cut to whole seconds.
 */
export const settledMs = (timing: Timing): number => timing.fenceMs + timing.requestTimeoutMs + 1_000;

/** Fence of plans with few creations, counted from their step's first read, ms; a step that is slower decides again. */
const createWithinMs = 4_000;

/** Returns the fence for plans that ask for an early one (`createWithinMs`), and the settle time that belongs to it. */
export const promptness = (timing: Timing): { readonly fenceMs: number; readonly settledMs: number } => {
  const prompt = { ...timing, fenceMs: Math.min(timing.fenceMs, createWithinMs) };
  return { fenceMs: prompt.fenceMs, settledMs: settledMs(prompt) };
};

/**
 * The longest time of one decision, ms; an object whose decision takes longer is quarantined. In a host all other keys
 * wait meanwhile; in a function only its batch does, on what may be a tenth of a processor.
 */
export const decisionBudgetMs = { host: 750, function: 10_000 } as const;

/** Settings for the recovery and the size of records. */
export type RecoverySettings = {
  /** True: a record that cannot be used stops its key. False: the fields that parse are kept. */
  readonly strict: boolean;
  /** The permitted differences between a record's settings and the deployment's: none, growth only, or any. */
  readonly policy: "equal" | "additive" | "any";
  /** Length of the recovery window, unless the object sets its own. */
  readonly returnMs: number;
  /** The number of past runs kept for each application. */
  readonly runs: number;
  readonly retentionMs: number;
  /** A record is kept below this size, as JSON: a store may take no more than 400 KB. */
  readonly maxBytes: number;
};

const day = 86_400_000;

/** The defaults of a deployment. */
export const recovery: RecoverySettings = {
  strict: true,
  policy: "additive",
  returnMs: 30_000,
  runs: 10,
  retentionMs: 7 * day,
  maxBytes: 262_144,
};

/** The recovery settings of a world; the defaults if it gives none. */
export const recoveryOf = (world: { readonly recovery?: RecoverySettings }): RecoverySettings =>
  world.recovery ?? recovery;
