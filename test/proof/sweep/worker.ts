/** A thread of a sweep: takes a piece, runs it, reports, and asks for the next. */
import { parentPort, workerData } from "node:worker_threads";
import { type Choice, type Outcome, type PreparedScenario, prepare, runUnit, type Unit } from "./units.ts";

export type Told = { readonly unit: Unit | undefined; readonly outcomes: readonly Outcome[] };

// Stack traces of refusals are not read here; a replay shows them.
Error.stackTraceLimit = 0;

const choice = workerData as Choice;
const open = new Map<string, PreparedScenario>();

const preparedFor = async (name: string): Promise<PreparedScenario> => {
  const known = open.get(name);
  if (known !== undefined) return known;
  const prepared = await prepare(name, choice);
  open.clear();
  open.set(name, prepared);
  return prepared;
};

parentPort?.on("message", async (unit: Unit) => {
  const told: Told = { unit, outcomes: await runUnit(await preparedFor(unit.scenario), unit, choice) };
  parentPort?.postMessage(told);
});

parentPort?.postMessage({ unit: undefined, outcomes: [] } satisfies Told);
