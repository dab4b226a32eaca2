/**
 * Answers the queries of a decision: gets and lists of objects, and probes that may fail without harm. A recording is
 * the input of a decision and the plan that it returned, as plain JSON. A decision is pure, so the same input leads to
 * the same plan at any time and on any machine: see `replay.ts`.
 */

import { recordUntil } from "../../core/annotation.ts";
import type { Answer, Reads } from "../../core/decision.ts";
import { ApiError } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import { isLabelValue, type Ref, type Stored } from "../../core/object.ts";
import {
  type Effect,
  type Looking,
  type Plan,
  type Probe,
  type ProbeResult,
  type Query,
  type View,
  wholeOf,
} from "../../core/plan.ts";
import type { Cluster } from "../ports.ts";

/** True if every value is valid for a label. No object has an invalid one, and the server refuses to select by it. */
const isAskable = (labels: Readonly<Record<string, string>>): boolean => Object.values(labels).every(isLabelValue);

const isForbidden = (cause: unknown): boolean => cause instanceof ApiError && cause.status === 403;

const isUnserved = (cause: unknown): boolean => cause instanceof ApiError && cause.status === 404;

type Listing = Extract<Query, { do: "list" }>;

/**
 * Lists objects; undefined if the server does not serve the kind and the query says that clusters may do without it.
 */
const served = async (cluster: Cluster, query: Listing): Promise<readonly Stored[] | undefined> => {
  try {
    return (await cluster.list(query)).value;
  } catch (cause) {
    if (query.optional === true && isForbidden(cause)) return [];
    if (query.spared === true && isUnserved(cause)) return undefined;
    throw cause;
  }
};

/** Lists again if the kind seems not to be served: a server that has just started serves no kind for a moment. */
const listed = async (cluster: Cluster, query: Listing): Promise<readonly Stored[]> => {
  if (!isAskable(query.labels)) return [];
  return (await served(cluster, query)) ?? (await served(cluster, query)) ?? [];
};

const look = async (cluster: Cluster, query: Looking): Promise<readonly Stored[]> => {
  if (query.do === "list") return await listed(cluster, query);
  const { value } = await cluster.get(query.ref);
  return value === undefined ? [] : [value];
};

/**
 * Reads an object; 403 is an answer here, any other error is thrown. A missing object is read again: its absence ends
 * things, so one answer is not enough.
 */
const getIfAllowed = async (cluster: Cluster, ref: Ref): Promise<ProbeResult> => {
  try {
    const value = (await cluster.get(ref)).value ?? (await cluster.get(ref)).value;
    return { heard: true, value };
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 403) throw cause;
    return { heard: false, why: "forbidden", message: cause.message };
  }
};

const probed = async (cluster: Cluster, query: Probe): Promise<ProbeResult> =>
  query.do === "proxyGet" ? await cluster.proxyGet(query) : await getIfAllowed(cluster, query.ref);

/** The parts of watched objects that a query wants, as the cluster returns them of listed ones. */
const projected = (query: Query, objects: readonly Stored[]): readonly Stored[] => {
  const project = query.do === "list" ? query.projecting?.() : undefined;
  return project === undefined ? objects : objects.map(project).filter((object) => object !== undefined);
};

/** `live`: the server has given the answer to this very step. `watched`: a watch has shown it, and may be behind. */
export type Freshness = "live" | "watched";

export type Fresh<Value> = { readonly value: Value; readonly freshness: Freshness };

/** A source of answers that needs no request; it returns undefined for what only the server can answer. */
export type Source = (query: Looking) => Fresh<readonly Stored[]> | undefined;

/** Returns the answer of the first source that has one. */
const knownAnswer = (query: Query, sources: readonly Source[]): Fresh<Answer> | undefined => {
  if (query.do === "proxyGet" || query.do === "getIfAllowed") return undefined;
  for (const source of sources) {
    const found = source(query);
    if (found !== undefined) return { ...found, value: { objects: projected(query, found.value) } };
  }
  return undefined;
};

const liveAnswer = async (cluster: Cluster, query: Query): Promise<Answer> =>
  query.do === "proxyGet" || query.do === "getIfAllowed"
    ? { probe: await probed(cluster, query) }
    : { objects: await look(cluster, query) };

/** The text by which a step knows a query: each is read once, whatever part of the objects is kept. */
export const idOf = (query: Query): string => JSON.stringify(query);

/** The reads of one step. Each query is answered once, also if several decisions of the step ask it. */
export type StepReads = {
  /** Returns the answers if all of them are there at once; undefined where one needs a request. */
  readonly known: (queries: readonly Query[]) => readonly Answer[] | undefined;
  readonly read: (queries: readonly Query[]) => Promise<readonly Answer[]>;
  /** Returns the objects that a watch has shown to the decisions so far; undefined if every answer was live. */
  readonly watched: () => readonly Stored[] | undefined;
};

/** Returns live reads, except for the queries that a source answers. */
export const stepReads = (cluster: Cluster, sources: readonly Source[] = []): StepReads => {
  const found = new Map<string, Answer>();
  const shown: Answer[] = [];
  const reading = new Map<string, Promise<Answer>>();
  const known = (query: Query): Answer | undefined => {
    const id = idOf(query);
    const before = found.get(id);
    if (before !== undefined || reading.has(id)) return before;
    const answer = knownAnswer(query, sources);
    if (answer === undefined) return undefined;
    if (answer.freshness === "watched") shown.push(answer.value);
    found.set(id, answer.value);
    return answer.value;
  };
  const read = async (query: Query): Promise<Answer> => {
    const there = known(query);
    if (there !== undefined) return there;
    const id = idOf(query);
    const answering = reading.get(id) ?? liveAnswer(cluster, query);
    reading.set(id, answering);
    const answer = await answering;
    found.set(id, answer);
    return answer;
  };
  return {
    known: (queries) => {
      const answers = queries.map(known).filter((answer) => answer !== undefined);
      return answers.length === queries.length ? answers : undefined;
    },
    read: (queries) => Promise.all(queries.map(read)),
    watched: () =>
      shown.length === 0 ? undefined : shown.flatMap((answer) => ("objects" in answer ? answer.objects : [])),
  };
};

/** The number of times that a decision may read before it must come to a plan; cached answers count as well. */
const mostReads = 32;

/** Runs a part of a decision, from one read to the next, now or later; may reject instead. */
export type Within = <T>(work: () => T) => T | Promise<T>;

/**
 * Runs a decision to its end. Creating it and running its first part are one call of `within`, because each call has a
 * cost. A part whose reads are known begins the next one before it returns, so that both run in one slice.
 */
export const resultOf = async <Result>(
  begin: () => Reads<Result>,
  answers: StepReads,
  what: string,
  within: Within = (work) => work(),
): Promise<Result> => {
  type State = { readonly reads: Reads<Result>; readonly step: IteratorResult<readonly Query[], Result> };
  const from = async (advance: () => State, left: number): Promise<Result> => {
    if (left === 0) throw new Error(`${what}: the decision read ${mostReads} times without coming to a plan`);
    const { state, rest } = await within(() => {
      const { reads, step } = advance();
      const given = step.done === true ? undefined : answers.known(step.value);
      const next = given === undefined ? undefined : from(() => ({ reads, step: reads.next(given) }), left - 1);
      return { state: { reads, step }, rest: next };
    });
    if (rest !== undefined) return await rest;
    const { reads, step } = state;
    if (step.done === true) return step.value;
    const given = await answers.read(step.value);
    return await from(() => ({ reads, step: reads.next(given) }), left - 1);
  };
  const first = (): State => {
    const reads = begin();
    return { reads, step: reads.next() };
  };
  return await from(first, mostReads);
};

/** Queries that a decision yielded together, and their answers in the same order. */
export type Round = { readonly queries: readonly Query[]; readonly answers: readonly Answer[] };

/** A decision as its step took it. `version` is the version of this format. */
export type DecisionRecording = {
  readonly version: 1;
  readonly key: Key;
  readonly view: View<unknown>;
  readonly rounds: readonly Round[];
  readonly plan: Plan<unknown>;
};

/** Keeps the recording of one decision; undefined if the decision is too large to be recorded. */
export type KeepRecording = (recording: DecisionRecording | undefined) => Promise<void>;

/** The most creations of a recorded plan: their objects are built a second time for the recording. */
const mostCreations = 100;

/** True if the object asks for recordings at this time, epoch ms. */
export const isRecorded = (object: Stored | undefined, now: number): boolean => {
  const until = object?.metadata.annotations?.[recordUntil];
  return until !== undefined && now < Date.parse(until);
};

/** Returns reads that also add each round of queries and answers to `rounds`. */
export const keptReads = (reads: StepReads, rounds: Round[]): StepReads => ({
  ...reads,
  known: (queries) => {
    const answers = reads.known(queries);
    if (answers !== undefined) rounds.push({ queries, answers });
    return answers;
  },
  read: async (queries) => {
    const answers = await reads.read(queries);
    rounds.push({ queries, answers });
    return answers;
  },
});

const wholeEffect = (effect: Effect): Effect => {
  if (effect.do !== "create" || effect.body === undefined) return effect;
  const { body: _, ...rest } = effect;
  return { ...rest, object: wholeOf(effect) };
};

/** Returns a plan whose creations hold their whole objects, so that it can be written as JSON. */
export const wholePlan = (plan: Plan<unknown>): Plan<unknown> => ({
  ...plan,
  stages: plan.stages.map((stage) => stage.map(wholeEffect)),
});

type Recorded = { readonly key: Key; readonly view: View<unknown>; readonly plan: Plan<unknown> };

export const recordingOf = (
  { key: { cluster, kind, namespace, name }, view, plan }: Recorded,
  rounds: readonly Round[],
): DecisionRecording | undefined => {
  const creations = plan.stages.flat().filter((effect) => effect.do === "create");
  if (creations.length > mostCreations) return undefined;
  return {
    version: 1,
    key: { cluster, kind, namespace, name },
    view: {
      ...view,
      refused: view.refused.map((refusal) => ({ ...refusal, effect: wholeEffect(refusal.effect) })),
      ...(view.done === undefined ? {} : { done: view.done.map(wholeEffect) }),
      ...(view.passed === undefined ? {} : { passed: view.passed.map(wholeEffect) }),
    },
    rounds,
    plan: wholePlan(plan),
  };
};
