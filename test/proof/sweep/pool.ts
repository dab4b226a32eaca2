/** Threads that plan the scenarios of a sweep and run their pieces, as many at once as there are processors. */
import { Worker } from "node:worker_threads";
import type { Planned } from "./scenario-plan.ts";
import type { Choice, Outcome, Unit } from "./units.ts";
import type { Task, Told } from "./worker.ts";

export type Pool = {
  readonly threads: number;
  readonly choice: Choice;
  readonly scenarios: readonly string[];
  /** Takes the plans of the scenarios in their order, and returns the pieces of each. */
  readonly planned: (plan: Planned) => readonly Unit[];
  /** Takes outcomes. False ends the sweep. */
  readonly told: (unit: Unit, outcomes: readonly Outcome[]) => boolean;
};

/** A thread, and the scenario that it has open. */
type Hand = { readonly worker: Worker; open: string };

/** The work that is left: scenarios without a plan, plans whose turn has not come, and pieces. */
type Work = { readonly unplanned: string[]; readonly early: Map<string, Planned>; readonly waiting: Unit[] };

/**
 * The next task: a piece of the open scenario, else the next plan, else any piece. A thread keeps a scenario open until
 * its plan has been taken.
 */
const nextFor = ({ open }: Hand, { unplanned, early, waiting }: Work): Task | undefined => {
  if (early.has(open)) return undefined;
  const own = waiting.findIndex(({ scenario }) => scenario === open);
  const plan = own < 0 ? unplanned.shift() : undefined;
  if (plan !== undefined) return { plan };
  const [run] = waiting.splice(Math.max(0, own), 1);
  return run && { run };
};

/** Resolves when every piece was run, or when `told` has ended the sweep. */
export const runPool = async ({ threads, choice, scenarios, planned, told }: Pool): Promise<void> => {
  const work: Work = { unplanned: [...scenarios], early: new Map(), waiting: [] };
  const inOrder = [...scenarios];
  const idle = new Set<Hand>();
  const done = Promise.withResolvers<void>();
  let wanted = true;
  const give = (hand: Hand): void => {
    const task = nextFor(hand, work);
    if (task === undefined) idle.add(hand);
    else {
      idle.delete(hand);
      hand.open = "plan" in task ? task.plan : task.run.scenario;
      hand.worker.postMessage(task);
    }
    if (idle.size === hands.length) done.resolve();
  };
  const takePlans = (): void => {
    for (let plan = work.early.get(inOrder[0] ?? ""); plan !== undefined; plan = work.early.get(inOrder[0] ?? "")) {
      work.early.delete(plan.scenario);
      inOrder.shift();
      work.waiting.push(...planned(plan));
    }
  };
  const hear = (hand: Hand, message: Told): void => {
    if (wanted && message.did === "plan") {
      work.early.set(message.planned.scenario, message.planned);
      takePlans();
    }
    if (message.did === "run") wanted &&= told(message.unit, message.outcomes);
    if (!wanted) {
      work.unplanned.length = 0;
      work.early.clear();
      work.waiting.length = 0;
    }
    // The thread itself comes first: it has the scenario open whose pieces may have come.
    for (const each of [hand, ...idle]) give(each);
  };
  const start = (): Hand => {
    // The garbage of a run is dropped with it: in a large nursery most of it is never copied.
    const resourceLimits = { maxYoungGenerationSizeMb: 96 };
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: choice, resourceLimits });
    const hand: Hand = { worker, open: "" };
    worker.on("error", done.reject);
    worker.on("message", (message: Told) => hear(hand, message));
    return hand;
  };
  const hands: readonly Hand[] = Array.from({ length: Math.max(1, threads) }, start);
  await done.promise;
  await Promise.all(hands.map(({ worker }) => worker.terminate()));
};
