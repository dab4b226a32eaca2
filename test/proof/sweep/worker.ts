/** A thread of a sweep: plans a scenario or runs a piece of one, reports, and asks for the next. */
import { parentPort, workerData } from "node:worker_threads";
import { type Planned, planOf } from "./scenario-plan.ts";
import { type Choice, type Outcome, type PreparedScenario, prepare, runUnit, type Unit } from "./units.ts";

/** `plan`: the name of a scenario. */
export type Task = { readonly plan: string } | { readonly run: Unit };

export type Told =
  | { readonly did: "start" }
  | { readonly did: "plan"; readonly planned: Planned }
  | { readonly did: "run"; readonly unit: Unit; readonly outcomes: readonly Outcome[] };

// Stack traces of refusals are not read here; a replay shows them.
Error.stackTraceLimit = 0;

const choice = workerData as Choice;
const open = new Map<string, PreparedScenario>();

const preparedFor = async (name: string): Promise<PreparedScenario> => {
  const known = open.get(name);
  if (known !== undefined) return known;
  open.clear();
  const prepared = await prepare(name, choice);
  open.set(name, prepared);
  return prepared;
};

const done = async (task: Task): Promise<Told> => {
  if ("plan" in task) return { did: "plan", planned: planOf(await preparedFor(task.plan)) };
  const { run: unit } = task;
  return { did: "run", unit, outcomes: await runUnit(await preparedFor(unit.scenario), unit, choice) };
};

const tell = (told: Told): void => parentPort?.postMessage(told);

parentPort?.on("message", async (task: Task) => tell(await done(task)));

tell({ did: "start" });
