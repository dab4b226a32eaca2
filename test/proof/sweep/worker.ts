/** A thread of a sweep: takes a piece, plays it, reports, and asks for the next. */
import { parentPort, workerData } from "node:worker_threads";
import { type Choice, type Outcome, type Played, playUnit, prepare, type Unit } from "./units.ts";

export type Told = { readonly unit: Unit | undefined; readonly outcomes: readonly Outcome[] };

// Stack traces of refusals are not read here; a replay shows them.
Error.stackTraceLimit = 0;

const choice = workerData as Choice;
const open = new Map<string, Played>();

const playedFor = async (name: string): Promise<Played> => {
  const known = open.get(name);
  if (known !== undefined) return known;
  const played = await prepare(name, choice);
  open.clear();
  open.set(name, played);
  return played;
};

parentPort?.on("message", async (unit: Unit) => {
  const told: Told = { unit, outcomes: await playUnit(await playedFor(unit.scenario), unit) };
  parentPort?.postMessage(told);
});

parentPort?.postMessage({ unit: undefined, outcomes: [] } satisfies Told);
