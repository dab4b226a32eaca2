/** Which pods of a job may be created: those of tasks whose dependencies are there, also in the place of finished ones. */
import { until, type WaitingOn } from "../../core/waiting-on.ts";
import { leastOf, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import type { JobContext } from "./context.ts";
import { hasFinished, isDone, isOver, isOverByRight, isReady, type Member, removedOf } from "./pods.ts";

const countsFor = (context: JobContext, member: Member): boolean =>
  isDone(member, context.memory) || (!isOver(member, context.memory) && isReady(member));

const isThere = (context: JobContext, name: string): boolean => {
  const task = tasksOf(context.spec).find((one) => nameOf(one) === name);
  if (task === undefined) return false;
  const there = context.members.filter((member) => member.task === name && countsFor(context, member));
  return there.length + removedOf(context, task).length >= leastOf(task);
};

/** True if the tasks that a task depends on are there: all of them, or one with iteration `any`. */
export const mayStart = (context: JobContext, { dependsOn }: Task): boolean => {
  const names = dependsOn?.name ?? [];
  if (names.length === 0) return true;
  const any = dependsOn?.iteration === "any" && names.length >= 2;
  return any ? names.some((name) => isThere(context, name)) : names.every((name) => isThere(context, name));
};

/** True if pods of a task that have failed leave too few of its pods: no step replaces them. */
const isFailed = (context: JobContext, task: Task): boolean => {
  const { memory, members } = context;
  const name = nameOf(task);
  const failed = members.filter(
    (member) => member.task === name && member.phase === "Failed" && !isOver(member, memory),
  ).length;
  return !isThere(context, name) && failed > 0 && replicasOf(task) - failed < leastOf(task);
};

/** Returns what a task waits for that nothing in the job brings about any more; undefined if there is no such task. */
export const failedDependency = (context: JobContext): WaitingOn | undefined => {
  if (context.memory.delays.length > 0) return undefined;
  const tasks = tasksOf(context.spec);
  const failed = new Set(tasks.filter((task) => isFailed(context, task)).map(nameOf));
  for (const task of tasks) {
    const names = task.dependsOn?.name ?? [];
    const lost = names.filter((name) => failed.has(name));
    const [first] = lost;
    const isStuck = task.dependsOn?.iteration === "any" ? lost.length === names.length : lost.length > 0;
    if (first !== undefined && isStuck && !mayStart(context, task))
      return until(`task ${first}, on which task ${nameOf(task)} depends,`, "there", "its pods have failed");
  }
  return undefined;
};

/** True for a finished pod that is gone as soon as a step deletes it, because it has no finalizer. */
export const makesWay = ({ spec, memory }: JobContext, member: Member): boolean =>
  hasFinished(member) &&
  isOverByRight(member, memory) &&
  (member.pod.metadata.finalizers ?? []).length === 0 &&
  memory.retryCount < (spec.maxRetry ?? 0);
