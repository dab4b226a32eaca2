/** The pods of a job: task, ordinal, version and phase of each, whether a pod is to be ended, and counts by phase. Pods that
 * succeeded and were deleted afterwards still count as succeeded. */

import { fieldsOf, isRecord } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { endedFirst, isEnding, ownedBy, podStatus } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { podName } from "../pods/names.ts";
import { keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { moveFor } from "./machine.ts";
import { changed, holderOf, type Memory, ofTask } from "./memory.ts";

/** Phases by which pods are counted; a pod that is to go counts as terminating whatever its phase. */
const podPhases = ["Pending", "Running", "Succeeded", "Failed", "Unknown"] as const;

type PodPhase = (typeof podPhases)[number];

export type Tally = {
  readonly pending: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unknown: number;
  readonly terminating: number;
  /** The job's minAvailable. */
  readonly minAvailable: number;
  readonly byTask: Readonly<Record<string, Readonly<Partial<Record<PodPhase, number>>>>>;
};

/** A pod as it is counted. */
export type Counting = { readonly task: string; readonly phase: PodPhase; readonly terminating: boolean };

export const podPhaseOf = (phase: string | undefined): PodPhase =>
  podPhases.find((known) => known === phase) ?? "Unknown";

const tallied = (pods: readonly Counting[], phase: PodPhase): number =>
  pods.filter((pod) => pod.phase === phase).length;

const byPhase = (pods: readonly Counting[]): Readonly<Partial<Record<PodPhase, number>>> =>
  Object.fromEntries(
    podPhases.flatMap((phase) => {
      const count = tallied(pods, phase);
      return count === 0 ? [] : [[phase, count]];
    }),
  );

/** Counts the pods; a task without a counted pod has no entry. */
export const tallyOf = (pods: readonly Counting[], minAvailable: number): Tally => {
  const staying = pods.filter(({ terminating }) => !terminating);
  const groups = Map.groupBy(staying, ({ task }) => task);
  return {
    pending: tallied(staying, "Pending"),
    running: tallied(staying, "Running"),
    succeeded: tallied(staying, "Succeeded"),
    failed: tallied(staying, "Failed"),
    unknown: tallied(staying, "Unknown"),
    terminating: pods.length - staying.length,
    minAvailable,
    byTask: Object.fromEntries([...groups].map(([task, its]) => [task, byPhase(its)])),
  };
};

export type Member = {
  readonly pod: Stored;
  readonly task: string;
  readonly index: number;
  readonly version: number;
  readonly phase: PodPhase;
  /** Its deletion is requested, by Rekindle or by others. */
  readonly ending: boolean;
};

const whole = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

const memberOf = (job: string, pod: Stored): Member | undefined => {
  const { annotations = {}, name } = pod.metadata;
  const task = annotations[keys.taskSpec];
  const index = whole(annotations[keys.taskIndex]);
  const version = whole(annotations[keys.jobVersion]);
  if (task === undefined || index === undefined || version === undefined) return undefined;
  if (name !== podName(job, task, index)) return undefined;
  return { pod, task, index, version, phase: podPhaseOf(podStatus(pod).phase), ending: isEnding(pod) };
};

/** Returns the pods that the job owns and whose name and annotations agree, in the order of task and index. */
export const membersOf = (
  job: { readonly name: string; readonly uid: string },
  pods: readonly Stored[],
): readonly Member[] =>
  pods
    .filter((pod) => ownedBy(pod, job.uid))
    .map((pod) => memberOf(job.name, pod))
    .filter((member) => member !== undefined)
    .sort((a, b) => (a.task === b.task ? a.index - b.index : a.task < b.task ? -1 : 1));

export const hasFinished = ({ phase }: Pick<Member, "phase">): boolean => phase === "Succeeded" || phase === "Failed";

const isMarked = ({ pod }: Member): boolean => pod.metadata.annotations?.[keys.outOfSync] === "true";

/** True in phases that end every unfinished pod. */
export const endsUnfinished = ({ phase }: Memory): boolean => moveFor(phase, "SyncJob").pods === "killUnfinished";

const isDeletionRequested = (member: Member, { doomed }: Memory): boolean =>
  doomed.includes(member.pod.metadata.uid) || isMarked(member);

/** True if the pod is to be ended whatever its state: doomed, marked out of sync, or of an earlier version. */
export const isOverByRight = (member: Member, memory: Memory): boolean =>
  isDeletionRequested(member, memory) || member.version < memory.version;

/**
 * True if the pod is to be ended: doomed, marked out of sync, of an earlier version unless it is kept as finished, or
 * unfinished in a phase that ends such pods.
 */
export const isOver = (member: Member, memory: Memory): boolean => {
  if (isDeletionRequested(member, memory)) return true;
  if (hasFinished(member)) return member.version < memory.version && !memory.keeps;
  return member.version < memory.version || endsUnfinished(memory);
};

const statusesIn = (pod: Stored, list: string): readonly Json[] => {
  const status = fieldsOf(pod.status);
  const statuses = status[list];
  return Array.isArray(statuses) ? statuses.filter(isRecord) : [];
};

const numberIn = (value: Json, field: string): number => (typeof value[field] === "number" ? value[field] : 0);

/** Returns how often the pod's containers were restarted, init containers included. */
export const restartsOf = ({ pod }: Member): number =>
  ["initContainerStatuses", "containerStatuses"]
    .flatMap((list) => statusesIn(pod, list))
    .reduce((sum, status) => sum + numberIn(status, "restartCount"), 0);

/** True if the pod is running and every container that has a status is ready. */
export const isReady = ({ pod, phase }: Member): boolean =>
  phase === "Running" && statusesIn(pod, "containerStatuses").every((status) => status["ready"] === true);

type Ended = { readonly code: number; readonly finishedAt: string };

const endedIn = (status: Json): readonly Ended[] => {
  const state = fieldsOf(status["state"]);
  const { terminated } = state;
  if (!isRecord(terminated)) return [];
  const { finishedAt } = terminated;
  return [{ code: numberIn(terminated, "exitCode"), finishedAt: typeof finishedAt === "string" ? finishedAt : "" }];
};

/** Lists exit code and end of every terminated container, init containers first. */
const endingsOf = ({ pod }: Member): readonly Ended[] =>
  ["initContainerStatuses", "containerStatuses"].flatMap((list) => statusesIn(pod, list)).flatMap(endedIn);

/** Exit codes other than 0 of all containers: unlike upstream, which reads the first only. */
export const exitCodesOf = (member: Member): readonly number[] => [
  ...new Set(endingsOf(member).flatMap(({ code }) => (code === 0 ? [] : [code]))),
];

/** Returns when the last container ended, as the API writes it; "" if no container status says so. */
export const finishedAtOf = (member: Member): string =>
  endingsOf(member)
    .map(({ finishedAt }) => finishedAt)
    .sort()
    .at(-1) ?? "";

/**
 * True if the pod completed its work. A kubelet writes a terminal phase also for a pod under deletion: a server that
 * ends with 0 on SIGTERM is `Succeeded`, but it was evicted and is not done.
 */
export const hasSucceeded = (member: Member, { done, leaving }: Pick<Memory, "done" | "leaving">): boolean => {
  if (member.phase !== "Succeeded") return false;
  if (!member.ending || ofTask(done, member.task).has(member.index)) return true;
  return !ofTask(leaving, member.task).has(member.index) && endedFirst(member.pod, instantOf(finishedAtOf(member)));
};

/** True if the pod succeeded and is not to be ended. */
export const isDone = (member: Member, memory: Memory): boolean =>
  hasSucceeded(member, memory) && !isOver(member, memory);

/** Returns the pod as the status counts it. */
export const countingOf = (member: Member, memory: Memory): Counting => ({
  task: member.task,
  phase: member.phase,
  terminating: (member.ending && !hasSucceeded(member, memory)) || isOver(member, memory),
});

type Known = { readonly members: readonly Member[]; readonly memory: Memory; readonly spec: JobSpec };

const thereIn = ({ members }: Known, name: string): ReadonlySet<number> =>
  new Set(members.filter(({ task }) => task === name).map(({ index }) => index));

/** Returns the done ordinals of a task that have no pod. */
export const removedOf = (context: Known, task: Task): readonly number[] => {
  const name = nameOf(task);
  if (context.memory.done[name] === undefined) return [];
  const there = thereIn(context, name);
  return [...ofTask(context.memory.done, name)].filter((index) => !there.has(index) && index < replicasOf(task));
};

export const removedIn = (context: Known): readonly Counting[] =>
  tasksOf(context.spec).flatMap((task) =>
    removedOf(context, task).map((): Counting => ({ task: nameOf(task), phase: "Succeeded", terminating: false })),
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
export const doneIn = (context: Known): Memory["done"] =>
  changed(
    new Map(
      tasksOf(context.spec).map((task) => {
        const name = nameOf(task);
        const succeeded = context.members.filter(
          (member) => member.task === name && member.index < replicasOf(task) && isDone(member, context.memory),
        );
        return [name, [...removedOf(context, task), ...succeeded.map(({ index }) => index)]];
      }),
    ),
  );
