/** The engine's time limits, in milliseconds; `timing` is what a deployment gets unless it says otherwise. */

export type Timing = {
  /** No effect starts later than this after the save that planned it, and none that creates later than this after the first look. */
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
 * How long after the first look (`view.now`) of a step that planned a driver the next driver may begin: fence and request
 * timeout, and one second because the API server's `Date` is cut to whole seconds.
 */
export const settledMs = (timing: Timing): number => timing.fenceMs + timing.requestTimeoutMs + 1_000;

/** Creations that are few begin so soon after their step's first look, or are decided on again, ms. */
const createWithinMs = 4_000;

/** The same for what begins within `fenceMs` of the first look, where that is asked for. */
export const promptness = (timing: Timing): { readonly fenceMs: number; readonly settledMs: number } => {
  const prompt = { ...timing, fenceMs: Math.min(timing.fenceMs, createWithinMs) };
  return { fenceMs: prompt.fenceMs, settledMs: settledMs(prompt) };
};

/**
 * One decision may take so long, ms; an object whose decision takes longer is quarantined. In a host every other key waits
 * meanwhile; in a function only the batch does, on a processor that may be a tenth of one.
 */
export const decisionBudgetMs = { host: 750, function: 10_000 } as const;

/** How records are recovered, and what is kept in them. */
export type RecoverySettings = {
  /** A record that cannot be used stops its key; else what parses of it is kept. */
  readonly strict: boolean;
  /** What the settings that a record was made with may differ in: nothing, or only by growing. */
  readonly policy: "equal" | "additive" | "any";
  /** What a recovered record tells of may come back for so long, unless its object says otherwise. */
  readonly returnMs: number;
  /** Runs that are over, kept for each application. */
  readonly runs: number;
  readonly retentionMs: number;
  /** A record is kept below this size, as JSON: a store may take no more than 400 KB. */
  readonly maxBytes: number;
};

const day = 86_400_000;

/** What a deployment gets unless it says otherwise. */
export const recovery: RecoverySettings = {
  strict: true,
  policy: "additive",
  returnMs: 30_000,
  runs: 10,
  retentionMs: 7 * day,
  maxBytes: 262_144,
};

/** The recovery settings of a world, which a deployment need not give. */
export const recoveryOf = (world: { readonly recovery?: RecoverySettings }): RecoverySettings =>
  world.recovery ?? recovery;
