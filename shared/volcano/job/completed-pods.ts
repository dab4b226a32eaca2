/** Pods that succeeded and were deleted afterwards: their work is done, and they still count as succeeded. */
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import type { Memory } from "./memory.ts";
import { changed, holderOf, ofTask } from "./ordinals.ts";
import type { Counting } from "./pod-counts.ts";
import { isDone, type Member } from "./pods.ts";

type Known = { readonly members: readonly Member[]; readonly memory: Memory; readonly spec: JobSpec };

const thereIn = ({ members }: Known, name: string): ReadonlySet<number> =>
  new Set(members.filter(({ task }) => task === name).map(({ index }) => index));

/** Returns the done ordinals of a task that have no pod. */
export const removedOf = (scene: Known, task: Task): readonly number[] => {
  const name = nameOf(task);
  if (scene.memory.done[name] === undefined) return [];
  const there = thereIn(scene, name);
  return [...ofTask(scene.memory.done, name)].filter((index) => !there.has(index) && index < replicasOf(task));
};

export const removedIn = (scene: Known): readonly Counting[] =>
  tasksOf(scene.spec).flatMap((task) =>
    removedOf(scene, task).map((): Counting => ({ task: nameOf(task), phase: "Succeeded", terminating: false })),
  );

/**
 * Returns the pods of done ordinals that have not succeeded: the pod comes from a slow creation or a stale read. Their
 * results do not count, and a step deletes them in the state in which it sees them.
 */
export const againOf = (pods: readonly Member[], { done }: Memory): readonly Member[] => {
  const isDoneAlready = holderOf(done);
  return pods.filter((pod) => pod.phase !== "Succeeded" && isDoneAlready(pod));
};

/** Returns the ordinals that are done by the pods or by the memory, without those beyond a task's replicas. */
export const doneIn = (scene: Known): Memory["done"] =>
  changed(
    new Map(
      tasksOf(scene.spec).map((task) => {
        const name = nameOf(task);
        const succeeded = scene.members.filter(
          (member) => member.task === name && member.index < replicasOf(task) && isDone(member, scene.memory),
        );
        return [name, [...removedOf(scene, task), ...succeeded.map(({ index }) => index)]];
      }),
    ),
  );
