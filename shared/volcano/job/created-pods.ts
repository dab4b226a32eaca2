/**
 * The pods that a step has created. Where a policy answers evictions, the same step goes on to save them: a pod that is
 * evicted before the next step shows in no later read.
 */
import { same } from "../../core/json.ts";
import type { Effect } from "../../core/plan.ts";
import { pods } from "../../kube/resources.ts";
import { podName } from "../pods/names.ts";
import { nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import type { JobContext } from "./context.ts";
import { changed, type Memory, ofTask } from "./memory.ts";
import type { Counting } from "./pods.ts";
import { answersEvictions } from "./policies.ts";

type Stages = readonly (readonly Effect[])[];

type CreatedPod = { readonly task: string; readonly index: number };

export const pendingPod = ({ task }: CreatedPod): Counting => ({ task, phase: "Pending", terminating: false });

/** The most creations of pods within one step, however slowly the API server answers. */
export const mostInStep = 1_000;

/**
 * True if the same step goes on to save which pods it has created: a policy answers their eviction, and a pod that is
 * gone before the next step shows in no later read.
 */
export const remembersPods = ({ view, spec }: JobContext, creates: Stages): boolean =>
  creates.length > 0 && (view.done ?? []).length < mostInStep && answersEvictions(spec);

const isPod = (effect: Effect): boolean => effect.do === "create" && effect.resource === pods;

/** Leaves out what this step has done already, as it goes on from the reads before: a second patch would conflict with the first. */
export const notYetDone = ({ view: { done = [] } }: JobContext, stages: Stages): Stages =>
  stages
    .map((stage) => stage.filter((effect) => isPod(effect) || !done.some((one) => !isPod(one) && same(one, effect))))
    .filter((stage) => stage.length > 0);

/** Returns the names of the pods that this step has created already. */
export const namesOfCreated = ({ view: { done = [] } }: Pick<JobContext, "view">): ReadonlySet<string> =>
  new Set(
    done.flatMap((effect) => (effect.do === "create" && effect.resource === pods ? [effect.object.metadata.name] : [])),
  );

/** The pods that this step has created and has not read since. */
export const createdPods = ({ view, spec, members, key }: JobContext): readonly CreatedPod[] => {
  const there = new Set(members.map(({ pod }) => pod.metadata.name));
  const made = namesOfCreated({ view });
  if (made.size === 0) return [];
  return tasksOf(spec).flatMap((task) =>
    Array.from({ length: replicasOf(task) }, (_, index) => ({ task: nameOf(task), index })).filter(
      ({ task, index }) => {
        const name = podName(key.name, task, index);
        return made.has(name) && !there.has(name);
      },
    ),
  );
};

/**
 * Counts created pods as seen, where a policy answers their eviction: the server has answered their creation, so they
 * exist, or have existed.
 */
export const withCreated = ({ memory, spec }: JobContext, created: readonly CreatedPod[]): Memory => {
  if (created.length === 0 || !answersEvictions(spec)) return memory;
  const byTask = Map.groupBy(created, ({ task }) => task);
  const tasks = new Set([...Object.keys(memory.seen), ...byTask.keys()]);
  const seen = [...tasks].map((task): [string, readonly number[]] => [
    task,
    [...ofTask(memory.seen, task), ...(byTask.get(task) ?? []).map(({ index }) => index)],
  ]);
  return { ...memory, seen: changed(new Map(seen)) };
};
