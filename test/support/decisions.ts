/** Runs decisions without an engine: a function answers every query. */
import type { Answer, Reads } from "../../shared/core/decision.ts";
import type { Stored } from "../../shared/core/object.ts";
import type { Parsed } from "../../shared/core/operator.ts";
import type { Looking, ProbeResult, Query } from "../../shared/core/plan.ts";

const most = 32;

/** The default of a test that expects no probe. */
const noProbe = (query: Query): ProbeResult => {
  throw new Error(`nobody answers a ${query.do}`);
};

export type Answering = {
  readonly objects: (query: Looking) => readonly Stored[];
  readonly probe?: (query: Exclude<Query, Looking>) => ProbeResult;
};

/** The result of a generator that yields queries. */
export const resultOf = <Result>(reads: Reads<Result>, { objects, probe = noProbe }: Answering): Result => {
  const answer = (query: Query): Answer =>
    query.do === "get" || query.do === "list" ? { objects: objects(query) } : { probe: probe(query) };
  let state = reads.next();
  for (let count = 0; count < most; count++) {
    if (state.done === true) return state.value;
    state = reads.next(state.value.map(answer));
  }
  throw new Error(`it read ${most} times without coming to a result`);
};

/** The same answers, where each query is asked once and its answer is kept, as in a step. */
export const asStep = ({ objects, probe = noProbe }: Answering): Answering => {
  const found = new Map<string, readonly Stored[]>();
  const probed = new Map<string, ProbeResult>();
  const kept = <Asked, Value>(known: Map<string, Value>, query: Asked, answer: (query: Asked) => Value): Value => {
    const id = JSON.stringify(query);
    const value = known.get(id) ?? answer(query);
    known.set(id, value);
    return value;
  };
  return {
    objects: (query) => kept(found, query, objects),
    probe: (query) => kept(probed, query, probe),
  };
};

/** Returns a memory as the next step reads it from the record; throws where it could not be read. */
export const readAgain = <Memory>(parse: (stored: unknown) => Parsed<Memory>, memory: Memory): Memory => {
  const read = parse(JSON.parse(JSON.stringify(memory)));
  if (!read.ok) throw new Error(read.error);
  return read.memory;
};
