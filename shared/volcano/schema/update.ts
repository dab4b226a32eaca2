/** Upstream's rules for a change to a job: only sizes and the priority class may change. */
import { same } from "../../core/json.ts";
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf, totalReplicas } from "./spec.ts";

const fixed =
  "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and `PriorityClassName`";

const free = ({ replicas: _, minAvailable: __, ...rest }: Task): object => rest;

/** Returns the fields that may not change. Names of claims that the controller generated are left out. */
const settled = ({ minAvailable: _, priorityClassName: __, tasks, volumes, ...rest }: JobSpec): object => ({
  ...rest,
  tasks: (tasks ?? []).map(free),
  volumes: (volumes ?? []).map(({ volumeClaimName, ...volume }) =>
    volume.volumeClaim === undefined ? { ...volume, volumeClaimName } : volume,
  ),
});

const least = (spec: JobSpec): string | undefined => {
  const over = tasksOf(spec).find((task) => task.minAvailable !== undefined && task.minAvailable > replicasOf(task));
  if (over !== undefined) return `'minAvailable' must be <= 'replicas' in task: ${nameOf(over)}`;
  return (spec.minAvailable ?? 0) > totalReplicas(spec)
    ? "job 'minAvailable' must not be greater than total replicas"
    : undefined;
};

/** Returns why the change is refused; empty if it may be made. */
export const changeSaying = (before: JobSpec, after: JobSpec): string => {
  const wrong = least(after);
  if (wrong !== undefined) return wrong;
  if (tasksOf(before).length !== tasksOf(after).length) return "job updates may not add or remove tasks";
  return same(settled(before), settled(after)) ? "" : fixed;
};
