/** Pods that succeeded and that somebody removed since: they did what they were for, and count on. */
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import type { Memory } from "./memory.ts";
import { changed, holderOf, ofTask } from "./ordinals.ts";
import type { Counting } from "./pod-counts.ts";
import { isDone, type Member } from "./pods.ts";

type Known = { readonly members: readonly Member[]; readonly memory: Memory; readonly spec: JobSpec };

const thereIn = ({ members }: Known, name: string): ReadonlySet<number> =>
  new Set(members.filter(({ task }) => task === name).map(({ index }) => index));

/** Their ordinals, of one task. */
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
 * Pods of ordinals that are done, and that have not succeeded: a creation that was under way for long, or a look from
 * before. Nothing comes of what they do, and they are ended as they stand.
 */
export const againOf = (pods: readonly Member[], { done }: Memory): readonly Member[] => {
  const isDoneAlready = holderOf(done);
  return pods.filter((pod) => pod.phase !== "Succeeded" && isDoneAlready(pod));
};

/** The ordinals that are done, as far as a step sees or has seen; beyond a task's size nothing is remembered. */
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
