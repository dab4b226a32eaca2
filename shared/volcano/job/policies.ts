/** Maps an event to an action: commands first, then outdated events, then the task's policies, then the job's. Delayed actions are
 * armed by events, cancelled, and taken when due. */

import { durationMs } from "../schema/duration.ts";
import { eventsOf } from "../schema/policies.ts";
import { type Action, internalEvents, isAction } from "../schema/resource.ts";
import { type JobSpec, nameOf, type Policy, tasksOf } from "../schema/spec.ts";
import type { Delay, Memory } from "./memory.ts";
import type { Member } from "./pods.ts";
import type { PolicyEvent } from "./policy-events.ts";

/** An event of a job, or a command. */
type Request = {
  /** The action that a command names. */
  readonly action?: string;
  readonly event: string;
  /** Exit codes of all containers that ended; a policy may name any of them. */
  readonly exitCodes: readonly number[];
  /** The version that the event concerns; absent: the job's current one. */
  readonly version?: number;
  readonly uid?: string;
  readonly task?: string;
};

export type Answer = {
  readonly action: Action;
  readonly delayMs: number;
  /** The task's policy, the job's, or none. */
  readonly by: "command" | "task" | "job" | "none";
};

const sync: Answer = { action: "SyncJob", delayMs: 0, by: "none" };

/** True if the policy names the event or one of its exit codes; PodPending counts only for a policy with a timeout. */
const isMet = (policy: Policy, { event, exitCodes }: Request): boolean => {
  const events = eventsOf(policy);
  const named = event !== "" && (events.includes(event) || events.includes("*"));
  if (named && (event !== "PodPending" || policy.timeout !== undefined)) return true;
  return policy.exitCode !== undefined && exitCodes.includes(policy.exitCode);
};

const answerOf = (policies: readonly Policy[], request: Request, by: Answer["by"]): Answer | undefined => {
  const policy = policies.find((one) => isMet(one, request));
  if (policy === undefined) return undefined;
  const action = isAction(policy.action) ? policy.action : "SyncJob";
  return { action, delayMs: durationMs(policy.timeout ?? "0") ?? 0, by };
};

const isInternal = (event: string): boolean => internalEvents.some((one) => one === event);

/** The job that the event concerns: its UID, the version of its pods, and its spec. */
type CurrentJob = { readonly uid: string; readonly version: number; readonly spec: JobSpec };

const isOutdated = ({ uid, version }: Request, current: CurrentJob): boolean =>
  (uid !== undefined && uid !== "" && uid !== current.uid) || (version !== undefined && version < current.version);

/** As volcano's applyPolicies, in its order. */
export const actionFor = (current: CurrentJob, request: Request): Answer => {
  if (request.action !== undefined && request.action !== "")
    return isAction(request.action) ? { action: request.action, delayMs: 0, by: "command" } : sync;
  if (isInternal(request.event) || isOutdated(request, current)) return sync;
  const task = tasksOf(current.spec).find((one) => nameOf(one) === request.task);
  return (
    answerOf(task?.policies ?? [], request, "task") ?? answerOf(current.spec.policies ?? [], request, "job") ?? sync
  );
};

/** The target of an action: a pod, a task, a partition of one, or the whole job. */
export type ActionTarget = {
  readonly task: string;
  readonly index?: number | undefined;
  readonly partition?: string | undefined;
};

const isSame = (a: ActionTarget, b: ActionTarget): boolean => a.task === b.task && a.index === b.index;

/** An action that an event delays. `dueAt` in epoch ms. */
export type Arm = {
  readonly happening: PolicyEvent;
  readonly action: Action;
  readonly delayMs: number;
  readonly dueAt: number;
};

const placeOf = ({ task, index }: ActionTarget): string => `${task}/${index ?? ""}`;

const delayOf = ({ happening, action, dueAt }: Arm): Delay => {
  const { event, task, index, partition, disrupted } = happening;
  return {
    ...{ event, action, task },
    ...(index === undefined ? {} : { index }),
    ...(partition === undefined ? {} : { partition }),
    ...(disrupted === undefined ? {} : { disrupted }),
    dueAt,
  };
};

/** Adds delays. A second delay of one pod, task or job replaces the first only if its action differs. */
export const armed = (delays: readonly Delay[], arms: readonly Arm[]): Delay[] => {
  const places = new Map(delays.map((delay) => [placeOf(delay), delay]));
  for (const arm of arms) {
    const place = placeOf(arm.happening);
    if (places.get(place)?.action === arm.action) continue;
    places.delete(place);
    places.set(place, delayOf(arm));
  }
  return [...places.values()];
};

const mended: readonly string[] = ["PodFailed", "PodEvicted"];

/** Cancels the delays for failed or evicted pods that run again. */
export const recovered = (delays: readonly Delay[], members: readonly Member[]): Delay[] => {
  const running = members.filter(({ phase, ending }) => phase === "Running" && !ending);
  return delays.filter(
    (one) => !mended.includes(one.event) || !running.some(({ task, index }) => isSame(one, { task, index })),
  );
};

type Level = "job" | "task" | "pod" | "partition";

const levels: Readonly<Partial<Record<Action, Level>>> = {
  RestartTask: "task",
  RestartPod: "pod",
  RestartPartition: "partition",
};

const levelOf = (action: Action): Level => levels[action] ?? "job";

/** True if the action concerns the whole job, whichever pod its event is about. */
export const isOfJob = (action: Action): boolean => levelOf(action) === "job";

const reaches: Readonly<Record<Level, (one: ActionTarget, target: ActionTarget) => boolean>> = {
  job: () => true,
  task: (one, target) => one.task === target.task,
  pod: isSame,
  partition: (one, target) => one.task === target.task && one.partition === target.partition,
};

/** Cancels the delays of the same level that an action has made superfluous. */
export const superseded = (delays: readonly Delay[], action: Action, target: ActionTarget): Delay[] => {
  const level = levelOf(action);
  return delays.filter((one) => levelOf(one.action) !== level || !reaches[level](one, target));
};

/** Returns the earliest delay that is due. */
export const dueOf = ({ delays }: Memory, now: number): Delay | undefined =>
  [...delays].sort((a, b) => a.dueAt - b.dueAt).find(({ dueAt }) => dueAt <= now);
