/**
 * Recordings of decisions: the input of a decision and the plan that it returned, as plain JSON. A decision is pure,
 * so the same input leads to the same plan at any time and on any machine: see `replay.ts`.
 */
import { recordUntil } from "../../core/annotation.ts";
import type { Answer } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import { type Effect, type Plan, type Query, type View, wholeOf } from "../../core/plan.ts";
import type { StepReads } from "./queries.ts";

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

/** Receives the recording of one decision; undefined if the decision is too large to be recorded. */
export type KeepRecording = (recording: DecisionRecording | undefined) => void;

/** The most creations of a recorded plan: their objects are built a second time for the recording. */
const mostCreations = 100;

/** True if the object asks for recordings at this time, epoch ms. */
export const isRecorded = (object: Stored | undefined, now: number): boolean => {
  const until = object?.metadata.annotations?.[recordUntil];
  return until !== undefined && now < Date.parse(until);
};

/** Returns reads that also add each round of queries and answers to `rounds`. */
export const keptReads =
  (reads: StepReads, rounds: Round[]): StepReads =>
  async (queries) => {
    const answers = await reads(queries);
    rounds.push({ queries, answers });
    return answers;
  };

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
