/**
 * Decisions wait here for the event loop: namespaces take turns, and decisions run in slices, between which the loop serves
 * everybody else. One watchdog guards a slice, for the start of its thread may cost more than a decision.
 */

/** One part of a decision, from one read to the next. `run` catches what its work throws. */
export type DecisionPart = {
  readonly namespace: string;
  /** What it may take, ms, asked when its turn has come. */
  readonly budgetMs: () => number;
  readonly run: () => void;
  /** The guard stopped it in its middle. */
  readonly stopped: (cause: unknown) => void;
};

/** Runs work, and throws when it takes longer than `ms`. */
export type SliceGuard = (ms: number, work: () => void) => void;

type Settings = {
  readonly guard: SliceGuard;
  /** After so long, monotonic ms, a slice begins no other part. 0: each part is a slice of its own. */
  readonly sliceMs: number;
  readonly clock: () => number;
  /** Runs work after the event loop has served what waits for it. */
  readonly later: (work: () => void) => void;
};

export type DecisionQueue = { add(part: DecisionPart): void };

/** Parts by namespace, the namespace whose turn it is first. */
type Waiting = Map<string, DecisionPart[]>;

const put = (waiting: Waiting, part: DecisionPart): void => {
  const parts = waiting.get(part.namespace) ?? [];
  parts.push(part);
  waiting.set(part.namespace, parts);
};

/** The first part of the namespace whose turn it is, unless it may take more than the slice still has. */
const take = (waiting: Waiting, mostMs: number): DecisionPart | undefined => {
  for (const [namespace, parts] of waiting) {
    const [part] = parts;
    if (part === undefined || part.budgetMs() > mostMs) return undefined;
    parts.shift();
    waiting.delete(namespace);
    if (parts.length > 0) waiting.set(namespace, parts);
    return part;
  }
  return undefined;
};

export const openDecisionQueue = ({ guard, sliceMs, clock, later }: Settings): DecisionQueue => {
  const waiting: Waiting = new Map();
  let scheduled = false;
  const schedule = (): void => {
    if (scheduled || waiting.size === 0) return;
    scheduled = true;
    later(slice);
  };
  const slice = (): void => {
    scheduled = false;
    const end = clock() + sliceMs;
    let current = take(waiting, Number.POSITIVE_INFINITY);
    if (current === undefined) return;
    const budgetMs = current.budgetMs();
    try {
      // The part that begins last has its whole budget, too.
      guard(budgetMs + sliceMs, () => {
        while (current !== undefined) {
          current.run();
          current = clock() < end ? take(waiting, budgetMs) : undefined;
        }
      });
    } catch (cause) {
      current?.stopped(cause);
    }
    schedule();
  };
  return {
    add: (part) => {
      put(waiting, part);
      schedule();
    },
  };
};
