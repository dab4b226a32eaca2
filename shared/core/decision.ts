/**
 * A decision as a generator: it yields the reads that it needs, is given their answers, and returns its plan. It does
 * nothing itself, so the same answers always lead to the same plan. Reads that are yielded together run in parallel.
 */
import type { Ref, Stored } from "./object.ts";
import type { Looking, Plan, Probe, ProbeResult, Query } from "./plan.ts";

/** The answer to one query: the objects that a get or a list found, or the result of a probe. */
export type Answer = { readonly objects: readonly Stored[] } | { readonly probe: ProbeResult };

/** A computation that reads: the answers stand in the order of the queries that it yields. */
export type Reads<Result> = Generator<readonly Query[], Result, readonly Answer[]>;

export type Decision<Memory> = Reads<Plan<Memory>>;

const unanswered = ({ do: act }: Query): Error => new Error(`a decision was given no answer to its ${act}`);

/** The objects that a query finds: of a get, one or none. */
export function* list(query: Looking): Reads<readonly Stored[]> {
  const [answer] = yield [query];
  if (answer === undefined || !("objects" in answer)) throw unanswered(query);
  return answer.objects;
}

/** Returns one object, or undefined if there is none. */
export function* get(query: Extract<Query, { do: "get" }>): Reads<Stored | undefined> {
  const [object] = yield* list(query);
  return object;
}

function* probe(query: Probe): Reads<ProbeResult> {
  const [answer] = yield [query];
  if (answer === undefined || !("probe" in answer)) throw unanswered(query);
  return answer.probe;
}

/** Reads one object that the service account may not be allowed to read. */
export const getIfAllowed = (ref: Ref): Reads<ProbeResult> => probe({ do: "getIfAllowed", ref });

/** Reads the answer of a pod through the API server's pod proxy. */
export const proxyGet = (query: Extract<Query, { do: "proxyGet" }>): Reads<ProbeResult> => probe(query);

type Running<Result> = { readonly reads: Reads<Result>; readonly step: IteratorResult<readonly Query[], Result> };

const started = <Result>(reads: Reads<Result>): Running<Result> => ({ reads, step: reads.next() });

/** Resumes each computation with its own answers; they stand in the order of all queries that were yielded. */
const resumed = <Result>(
  running: readonly Running<Result>[],
  answers: readonly Answer[],
): readonly Running<Result>[] => {
  let next = 0;
  return running.map(({ reads, step }) => {
    if (step.done === true) return { reads, step };
    const own = answers.slice(next, next + step.value.length);
    next += own.length;
    return { reads, step: reads.next(own) };
  });
};

const resultsOf = <Result>(running: readonly Running<Result>[]): readonly Result[] =>
  running.flatMap(({ step }) => (step.done === true ? [step.value] : []));

const queriesOf = (running: readonly Running<unknown>[]): readonly Query[] =>
  running.flatMap(({ step }) => (step.done === true ? [] : step.value));

function* together<Result>(
  reads: readonly Reads<Result>[],
  isEnough: (results: readonly Result[]) => boolean,
): Reads<readonly Result[]> {
  let running = reads.map(started);
  while (running.some(({ step }) => step.done !== true) && !isEnough(resultsOf(running)))
    running = [...resumed(running, yield queriesOf(running))];
  return resultsOf(running);
}

/** Runs several computations side by side: in each round the queries of all of them are yielded together. */
export function all<A, B>(reads: readonly [Reads<A>, Reads<B>]): Reads<readonly [A, B]>;
export function all<A, B, C>(reads: readonly [Reads<A>, Reads<B>, Reads<C>]): Reads<readonly [A, B, C]>;
export function all<Result>(reads: readonly Reads<Result>[]): Reads<readonly Result[]>;
export function all(reads: readonly Reads<unknown>[]): Reads<readonly unknown[]> {
  return together(reads, () => false);
}

/**
 * Runs several computations side by side until one returns a wanted result. Returns the first such result, or undefined
 * if there is none.
 */
export function* firstOf<Result>(
  reads: readonly Reads<Result>[],
  isWanted: (result: Result) => boolean,
): Reads<Result | undefined> {
  const results = yield* together(reads, (done) => done.some(isWanted));
  return results.find(isWanted);
}

/** Returns a result without a read, for callers that expect a computation. */
export function* settled<Result>(result: Result): Reads<Result> {
  yield* all([]);
  return result;
}

/** The result if it needs no read, else undefined. */
export const withoutReading = <Result>(reads: Reads<Result>): Result | undefined => {
  const step = reads.next();
  return step.done === true ? step.value : undefined;
};
