/**
 * Pods of a job that a quota or a policy of the cluster refuses. The job goes on without them: its status, its policies
 * and its commands wait for none of them. They are tried again later, a few at a time.
 */
import { type Effect, policyRefused, quotaExceeded, type Refusal } from "../../core/plan.ts";
import { backoffOf } from "../../core/time.ts";
import { pods } from "../../kube/resources.ts";
import { nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import type { JobContext, ReasonMessage } from "./context.ts";
import { jobEvent, refusalWord } from "./events.ts";
import type { Memory } from "./memory.ts";
import { removedOf } from "./pods.ts";

type Denied = NonNullable<Memory["denied"]>;

/** Waits between two tries, ms: a quota has room again when pods end, which no event of this job tells. */
const [firstWaitMs, longestWaitMs] = [2_000, 60_000];
/** The most pods of a task that one later try creates. */
const mostInTry = 16;

/** True of the refused creation of a pod that the cluster may accept later. */
export const isPodDenial = ({ effect, reason }: Refusal): boolean =>
  effect.do === "create" &&
  effect.resource.plural === pods.plural &&
  (reason === quotaExceeded || reason === policyRefused);

const isLacking = (context: JobContext, task: Task): boolean => {
  const there = context.members.filter((member) => member.task === nameOf(task)).length;
  return there + removedOf(context, task).length < replicasOf(task);
};

/** Keeps the denied tasks that still lack pods. */
const stillDenied = (context: JobContext): Denied | undefined => {
  const { denied } = context.memory;
  if (denied === undefined) return undefined;
  const lacking = tasksOf(context.spec).filter((task) => isLacking(context, task));
  const tasks = denied.tasks.filter((name) => lacking.some((task) => nameOf(task) === name));
  return tasks.length === 0 ? undefined : { ...denied, tasks };
};

/** Returns the task of a pod by its name: see `podName`. */
const taskIn = (job: string, pod: string): string => pod.slice(job.length + 1, pod.lastIndexOf("-"));

/** Returns the earlier message if the two differ in numbers alone: a quota's message counts what is used. */
const toldAs = (before: string | undefined, message: string): string => {
  const gist = (text: string): string => text.replaceAll(/\d+/g, "#");
  return before !== undefined && gist(before) === gist(message) ? before : message;
};

const deniedBy = ({ view, key }: JobContext, before: Denied | undefined, denials: readonly Refusal[]): Denied => {
  const tasks = denials.flatMap(({ effect }) =>
    effect.do === "create" ? [taskIn(key.name, effect.object.metadata.name)] : [],
  );
  const all = [...new Set([...(before?.tasks ?? []), ...tasks])];
  // A further decision of the step in which they were refused.
  if (before !== undefined && before.until > view.now) return { ...before, tasks: all };
  const tries = (before?.tries ?? 0) + 1;
  const until = view.now + backoffOf(tries - 1, firstWaitMs, longestWaitMs);
  return { tasks: all, tries, until, message: toldAs(before?.message, refusalWord(denials).message) };
};

/** Returns the context with the denials of this step in its memory, and without those that are over. */
export const withDenials = (context: JobContext, denials: readonly Refusal[]): JobContext => {
  const { denied: _, ...memory } = context.memory;
  const before = stillDenied(context);
  const denied = denials.length === 0 ? before : deniedBy(context, before, denials);
  return { ...context, memory: denied === undefined ? memory : { ...memory, denied } };
};

/** Returns how many pods of a task a step may create now. */
export const mostTried = ({ memory: { denied }, view }: JobContext, task: Task): number => {
  if (denied === undefined || !denied.tasks.includes(nameOf(task))) return Number.POSITIVE_INFINITY;
  return denied.until > view.now ? 0 : mostInTry;
};

/** Returns the instant of the next try, epoch ms; undefined while nothing is denied. */
export const nextTryAt = ({ memory: { denied }, view }: JobContext): number | undefined =>
  denied === undefined || denied.until <= view.now ? undefined : denied.until;

/** Returns what the cluster refuses, for the status. */
export const denialWord = ({ memory: { denied } }: JobContext): ReasonMessage | undefined =>
  denied === undefined ? undefined : { reason: "FailedCreate", message: denied.message };

/** The try from which on a denial is told by an Event of one name: one wrong answer is not. */
const toldTry = 3;

/** Records a denial that lasts, once for a version. */
export const denialEvents = (context: JobContext): readonly Effect[] => {
  const { object, memory, view } = context;
  const word = denialWord(context);
  const lasts = (memory.denied?.tries ?? 0) >= toldTry && view.refused.some(isPodDenial);
  return word !== undefined && lasts ? [jobEvent(object, `denied ${memory.version}`, word)] : [];
};
