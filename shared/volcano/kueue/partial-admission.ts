/**
 * Partial admission: Kueue may admit fewer pods of one task than the Job asks for, and the Job runs with these for as long as
 * that admission lasts. `minAvailable` alone does not ask for it: Volcano adds the rest of a Job when there is room, Kueue does not.
 */
import type { Stored } from "../../core/object.ts";
import { assignmentsIn, reservesQuota } from "../../kube/kueue.ts";
import { type JobSpec, leastOf, nameOf, replicasOf, tasksOf, totalReplicas } from "../schema/spec.ts";

/** The annotation of a Job that names the task, and of its Workload with the task and its least number. */
export const partialAdmission = "rekindle.dev/partial-admission";

/** A task, and the fewest pods of it with which the Job may run. Kueue allows this of one pod set. */
export type PartialTask = { readonly task: string; readonly least: number };

/** Returns the task with its least number; undefined if the Job has no such task, or needs all of its pods. */
export const partialTask = (spec: JobSpec, name: string): PartialTask | undefined => {
  const task = tasksOf(spec).find((one) => nameOf(one) === name);
  if (task === undefined || task.partitionPolicy !== undefined) return undefined;
  const others = totalReplicas(spec) - replicasOf(task);
  const least = Math.max(1, leastOf(task), Math.max(spec.minAvailable ?? 0, spec.minSuccess ?? 0) - others);
  return least < replicasOf(task) ? { task: name, least } : undefined;
};

/** Returns the spec with as many replicas of each task as Kueue has admitted; the same spec if these are all. */
export const admittedSpec = (spec: JobSpec, workload: Stored | undefined): JobSpec => {
  if (workload === undefined || !reservesQuota(workload)) return spec;
  const counts = new Map(assignmentsIn(workload).map(({ name, count }) => [name, count]));
  const tasks = tasksOf(spec).map((task) => {
    const count = counts.get(nameOf(task));
    return typeof count === "number" && count < replicasOf(task) ? { ...task, replicas: count } : task;
  });
  return tasks.every((task, at) => task === spec.tasks?.[at]) ? spec : { ...spec, tasks };
};

/** Returns a text for each task of which fewer pods are admitted than the Job asks for. */
export const shortfalls = (spec: JobSpec, admitted: JobSpec): readonly string[] =>
  tasksOf(admitted).flatMap((task, at) => {
    const all = spec.tasks?.[at]?.replicas ?? 0;
    return replicasOf(task) < all ? [`${replicasOf(task)} of ${all} pods of task ${nameOf(task)}`] : [];
  });
