/** Threads that run the pieces of a sweep, as many at once as there are processors. */
import { Worker } from "node:worker_threads";
import type { Choice, Outcome, Unit } from "./units.ts";
import type { Told } from "./worker.ts";

export type Pool = {
  readonly threads: number;
  readonly choice: Choice;
  /** Takes outcomes. False ends the sweep. */
  readonly told: (unit: Unit, outcomes: readonly Outcome[]) => boolean;
};

export type Working = {
  readonly add: (units: readonly Unit[]) => void;
  /** Ends the input. Resolves when every piece was run, or when `told` has ended the sweep. */
  readonly end: () => Promise<void>;
};

/** A thread, and the scenario that it has open. */
type Hand = { readonly worker: Worker; open: string };

/** The next piece: of the open scenario, else of one that no thread has open, else any. */
const nextFor = (hand: Hand, waiting: Unit[], hands: readonly Hand[]): Unit | undefined => {
  const busy = new Set(hands.map(({ open }) => open));
  const own = waiting.findIndex(({ scenario }) => scenario === hand.open);
  const fresh = own < 0 ? waiting.findIndex(({ scenario }) => !busy.has(scenario)) : own;
  const [unit] = waiting.splice(Math.max(0, fresh), 1);
  return unit;
};

export const openPool = ({ threads, choice, told }: Pool): Working => {
  const waiting: Unit[] = [];
  const idle = new Set<Hand>();
  const done = Promise.withResolvers<void>();
  let complete = false;
  let wanted = true;
  const give = (hand: Hand): void => {
    const unit = nextFor(hand, waiting, hands);
    if (unit === undefined) idle.add(hand);
    else {
      idle.delete(hand);
      hand.open = unit.scenario;
      hand.worker.postMessage(unit);
    }
    if (complete && idle.size === hands.length) done.resolve();
  };
  const open = (): Hand => {
    // The garbage of a run is dropped with it: in a large nursery most of it is never copied.
    const resourceLimits = { maxYoungGenerationSizeMb: 96 };
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: choice, resourceLimits });
    const hand: Hand = { worker, open: "" };
    worker.on("error", done.reject);
    worker.on("message", ({ unit, outcomes }: Told) => {
      wanted &&= unit === undefined || told(unit, outcomes);
      if (!wanted) waiting.length = 0;
      give(hand);
    });
    return hand;
  };
  const hands: readonly Hand[] = Array.from({ length: Math.max(1, threads) }, open);
  return {
    add: (units) => {
      if (wanted) waiting.push(...units);
      for (const hand of [...idle].slice(0, units.length)) give(hand);
    },
    end: async () => {
      complete = true;
      for (const hand of [...idle]) give(hand);
      await done.promise;
      await Promise.all(hands.map(({ worker }) => worker.terminate()));
    },
  };
};
