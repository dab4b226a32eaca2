/** Whether one PodGroup of Kubernetes can state what the group of a Job asks for: one number of pods of one priority. */
import { fieldsOf } from "../../core/json.ts";
import { placer } from "../../kube/gang-plan.ts";
import { counts } from "../podgroup/group.ts";
import { volcanoScheduler } from "../pods/names.ts";
import { type JobSpec, leastOf, nameOf, replicasOf, type Task, tasksOf, totalReplicas } from "../schema/spec.ts";

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the priority class of a task's pods; "" if they have none. */
const classOf = ({ priorityClassName }: JobSpec, { template }: Task): string =>
  textIn(template?.spec?.["priorityClassName"]) || (priorityClassName ?? "");

/** Returns the priority class of a job's pods, which are all of one. */
export const classIn = (spec: JobSpec): string => {
  const [first] = tasksOf(spec);
  return first === undefined ? "" : classOf(spec, first);
};

const schedulerOf = ({ schedulerName }: JobSpec, { template }: Task): string => {
  const name = textIn(template?.spec?.["schedulerName"]) || (schedulerName ?? "");
  return name === "" || name === volcanoScheduler ? placer : name;
};

const ofTask = (spec: JobSpec, task: Task): string | undefined => {
  const name = nameOf(task);
  if (task.partitionPolicy !== undefined) return `task ${name} has a partitionPolicy`;
  if (Object.hasOwn(fieldsOf(task.template?.spec), "schedulingGroup"))
    return `task ${name} names a schedulingGroup of its own`;
  const scheduler = schedulerOf(spec, task);
  return scheduler === placer ? undefined : `task ${name} has the scheduler ${scheduler}`;
};

const dependsOn = ({ dependsOn: on }: Task): boolean => (on?.name ?? []).length > 0;

/** Returns how many pods of each task belong to the minimum, in the order of tasks. */
const minimaOf = (spec: JobSpec): readonly number[] =>
  counts(
    tasksOf(spec).map((task) => ({ task, priority: 0 })),
    spec.minAvailable ?? 0,
  );

/** True if any pods of the number that the group needs keep the minimum of each task. */
const isOneNumber = (spec: JobSpec): boolean => {
  const tasks = tasksOf(spec);
  const least = spec.minAvailable ?? 0;
  const minima = minimaOf(spec);
  if (tasks.some(dependsOn)) return tasks.every((task, at) => minima[at] === replicasOf(task));
  const together = tasks.reduce((sum, task) => sum + leastOf(task), 0);
  if (least < together) return true;
  const total = totalReplicas(spec);
  return tasks.every((task) => least - (total - replicasOf(task)) >= leastOf(task));
};

/** Returns what a PodGroup of Kubernetes cannot say of a job; undefined if it can say all of it. */
export const beyondNative = (spec: JobSpec): string | undefined => {
  const tasks = tasksOf(spec);
  if (spec.networkTopology?.mode === "hard") return "the job has a hard networkTopology";
  for (const task of tasks) {
    const beyond = ofTask(spec, task);
    if (beyond !== undefined) return beyond;
  }
  const classes = new Set(tasks.map((task) => classOf(spec, task)));
  if (classes.size > 1) return "its tasks have different priority classes";
  return isOneNumber(spec) ? undefined : "one number of pods does not keep the minAvailable of each task";
};

/** Returns how many pods of these tasks must start together. */
export const minimumOf = (spec: JobSpec, isOpen: (task: Task) => boolean): number => {
  const minima = minimaOf(spec);
  return tasksOf(spec).reduce((sum, task, at) => sum + (isOpen(task) ? (minima[at] ?? 0) : 0), 0);
};
