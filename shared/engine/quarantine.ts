/**
 * Bounds the cost of deciding about one object for all other keys. Decisions of one process queue: namespaces take
 * turns, and decisions run in slices, between which the event loop serves all other work. One watchdog guards a slice.
 * A decision that takes more than its budget is stopped. The object of a stopped decision, or of one during which the
 * process died, waits in quarantine for growing times, or until it changes.
 *
 * Q1. No decision of a key begins while its object is in quarantine.
 * Q2. Stopped decisions of a namespace shorten the budget of its next ones: a thousand bad objects cost less and less
 * each.
 * Q3. The journal names each decision before it begins, so that a death is blamed on no other object.
 */
import { forgetOldest } from "../core/cache.ts";
import { BudgetError } from "../core/http.ts";
import { type Key, textOf } from "../core/key.ts";
import { backoffOf } from "../core/time.ts";
import type { Decision, Journal, Slices, Stop, TimeLimit } from "./ports.ts";

/** One part of a decision, from one read to the next. `run` catches the errors of its work. */
export type DecisionPart = {
  readonly namespace: string;
  /** The time that the part may take, ms; read when its turn comes. */
  readonly budgetMs: () => number;
  readonly run: () => void;
  /** Called when the guard has stopped the part. */
  readonly stopped: (cause: unknown) => void;
};

/** Returns slices that a time limit guards one by one. */
export const slicesOf = (limit: TimeLimit, later: Slices["later"]): Slices => ({
  later,
  guard: (ms, work, stopped) => {
    try {
      limit(ms, work);
    } catch (cause) {
      stopped(cause);
    }
  },
});

type QueueSettings = {
  readonly slices: Slices;
  /** Monotonic ms after which a slice begins no other part. 0: each part is a slice of its own. */
  readonly sliceMs: number;
  readonly clock: () => number;
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

export const openDecisionQueue = ({ slices, sliceMs, clock }: QueueSettings): DecisionQueue => {
  const waiting: Waiting = new Map();
  let scheduled = false;
  const schedule = (): void => {
    if (scheduled || waiting.size === 0) return;
    scheduled = true;
    slices.later(slice);
  };
  const slice = (): void => {
    scheduled = false;
    const end = clock() + sliceMs;
    let current = take(waiting, Number.POSITIVE_INFINITY);
    if (current === undefined) return;
    const budgetMs = current.budgetMs();
    const run = (): void => {
      while (current !== undefined) {
        current.run();
        current = clock() < end ? take(waiting, budgetMs) : undefined;
      }
    };
    const stopped = (cause: unknown): void => {
      current?.stopped(cause);
      schedule();
    };
    // The last part that begins in the slice has its whole budget, too.
    slices.guard(budgetMs + sliceMs, run, stopped);
    schedule();
  };
  return {
    add: (part) => {
      put(waiting, part);
      schedule();
    },
  };
};

export type Quarantine = {
  /**
   * Runs a part of a decision about this version of a key's object when its turn comes. Rejects with a BudgetError if
   * the part was stopped, or if the object is in quarantine.
   */
  run<T>(key: Key, version: string, work: () => T): Promise<T>;
  /** Forgets the stops of the key, because one of its decisions has come to a plan. */
  finished(key: Key): void;
};

type Settings = {
  readonly slices: Slices;
  /** Budget of a decision in a namespace without stops, ms. */
  readonly budgetMs: number;
  /** Absent: a death of the process is not remembered. */
  readonly journal?: Journal | undefined;
  /** Epoch ms. */
  readonly now: () => number;
  /** Monotonic, ms. */
  readonly clock: () => number;
  /** The time that decisions run before the event loop is served, ms; absent: 5. */
  readonly sliceMs?: number;
};

/** With the longest usual decision after it, this is a tenth of the delay that a liveness probe would notice. */
const usualSliceMs = 5;

const firstWaitMs = 10_000;
const longestWaitMs = 900_000;
/** The time for which a stop counts against its namespace, ms. */
const countedMs = 600_000;
/** The least budget of any decision, ms. */
const leastBudgetMs = 50;
/** The most objects, and the most namespaces, that are remembered. */
const most = 10_000;

const message =
  "a decision about this object took too long or ended the process, so the object is in quarantine. Make its spec smaller: fewer or shorter confs, variables, arguments, volumes, policies, tasks or replicas. A changed spec is tried within 10 s";

const waitMs = ({ count }: Stop): number => (count === 0 ? 0 : backoffOf(count - 1, firstWaitMs, longestWaitMs));

/**
 * Returns the ms until the next try. A changed object waits at most as long as after its first stop; a clock that was
 * set back adds nothing.
 */
const leftMs = (stop: Stop, version: string, now: number): number => {
  const wait = stop.version === version ? waitMs(stop) : Math.min(firstWaitMs, waitMs(stop));
  return now < stop.at ? 0 : Math.max(0, stop.at + wait - now);
};

export const openQuarantine = ({
  slices,
  budgetMs,
  journal,
  now,
  clock,
  sliceMs = usualSliceMs,
}: Settings): Quarantine => {
  const queue = openDecisionQueue({ slices, sliceMs, clock });
  const stops = new Map<string, Stop>((journal?.stops ?? []).map((stop) => [stop.key, stop]));
  const recent = new Map<string, readonly number[]>();
  const stopsIn = (namespace: string): readonly number[] =>
    (recent.get(namespace) ?? []).filter((at) => now() - at < countedMs);
  const stopped = (decision: Decision, first: 0 | 1): Stop => {
    const before = stops.get(decision.key);
    const count = before?.version === decision.version ? before.count + 1 : first;
    const stop = { ...decision, count, at: now() };
    stops.delete(decision.key);
    stops.set(decision.key, stop);
    forgetOldest(stops, most);
    if (count > 0) recent.set(decision.namespace, [...stopsIn(decision.namespace), stop.at].slice(-10));
    forgetOldest(recent, most);
    journal?.save([...stops.values()]);
    return stop;
  };
  if (journal?.died !== undefined) stopped(journal.died, 0);
  const blamed = (decision: Decision, cause: unknown): unknown =>
    cause instanceof BudgetError && cause.why === "stopped"
      ? new BudgetError({ message, waitMs: waitMs(stopped(decision, 1)), why: "stopped" })
      : cause;
  return {
    run: async (key, version, work) => {
      const decision = { key: textOf(key), namespace: key.namespace, version };
      const before = stops.get(decision.key);
      const left = before === undefined ? 0 : leftMs(before, version, now());
      if (left > 0) throw new BudgetError({ message, waitMs: left, why: "held" });
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof work>>();
      queue.add({
        namespace: key.namespace,
        budgetMs: () => Math.max(leastBudgetMs, budgetMs / 2 ** stopsIn(key.namespace).length),
        run: () => {
          journal?.begin(decision);
          try {
            resolve(work());
          } catch (cause) {
            reject(cause);
          }
          journal?.end();
        },
        stopped: (cause) => {
          journal?.end();
          reject(blamed(decision, cause));
        },
      });
      return await promise;
    },
    finished: (key) => {
      if (stops.delete(textOf(key))) journal?.save([...stops.values()]);
    },
  };
};
