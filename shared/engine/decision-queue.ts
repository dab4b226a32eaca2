/**
 * The queue of decisions in one process. Namespaces take turns, and decisions run in slices, between which the event
 * loop serves all other work. One watchdog guards a whole slice, because starting its thread may cost more than a
 * decision.
 */

/** One part of a decision, from one read to the next. `run` catches the errors of its work. */
export type DecisionPart = {
  readonly namespace: string;
  /** The time that the part may take, ms; read when its turn comes. */
  readonly budgetMs: () => number;
  readonly run: () => void;
  /** Called when the guard has stopped the part. */
  readonly stopped: (cause: unknown) => void;
};

/** Runs work, and throws if it takes longer than `ms`. */
export type SliceGuard = (ms: number, work: () => void) => void;

type Settings = {
  readonly guard: SliceGuard;
  /** Monotonic ms after which a slice begins no other part. 0: each part is a slice of its own. */
  readonly sliceMs: number;
  readonly clock: () => number;
  /** Runs work after the event loop has served its pending events. */
  readonly later: (work: () => void) => void;
};

export type DecisionQueue = { add(part: DecisionPart): void };

/** Parts by namespace; the namespace whose turn is next comes first. */
type Waiting = Map<string, DecisionPart[]>;

const put = (waiting: Waiting, part: DecisionPart): void => {
  const parts = waiting.get(part.namespace) ?? [];
  parts.push(part);
  waiting.set(part.namespace, parts);
};

/** Takes the first part of the next namespace, unless its budget is longer than `mostMs`. */
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
      // The last part that begins in the slice has its whole budget, too.
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
