/**
 * The policy events of a job since its last step, derived from objects: upstream's events as levels. The memory marks
 * each event that was handled, so each is an event once. Policies map an event to an action: commands first, then
 * outdated events, then the task's policies, then the job's. Delayed actions are armed by events, cancelled, and taken
 * when due.
 */
import { fieldsOf } from "../../core/json.ts";
import { instantOf } from "../../core/time.ts";
import { isMarked } from "../../kube/gang-eviction.ts";
import { disruptionOf, leavingAt, podStatus, statusDisruption } from "../../kube/pods.ts";
import { podName } from "../pods/names.ts";
import { partitionOf } from "../pods/pod.ts";
import { eventsOf } from "../schema/policies.ts";
import { type Action, internalEvents, isAction } from "../schema/resource.ts";
import { durationMs, type JobSpec, nameOf, type Policy, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { evictionIn, type JobContext, ownerOf } from "./context.ts";
import { type Delay, type Memory, ofTask } from "./memory.ts";
import { exitCodesOf, finishedAtOf, hasFinished, isDone, isOver, type Member, removedOf, restartsOf } from "./pods.ts";

export type EventName = "PodFailed" | "PodEvicted" | "PodPending" | "TaskCompleted" | "TaskFailed" | "Unknown";

export type PolicyEvent = {
  readonly event: EventName;
  readonly task: string;
  readonly index?: number;
  readonly partition?: string;
  readonly exitCodes: readonly number[];
  /** The pod was taken away or down from outside: by deletion, eviction, preemption, or with its node. */
  readonly disrupted?: true;
  /** Instant of the event, epoch ms; the time of the step if the objects do not tell. */
  readonly at: number;
  /** The pod that proves the event: it is read again by name and must have this UID. Without `uid` it must be gone. */
  readonly witness?: { readonly name: string; readonly uid?: string };
};

const isCurrent = ({ memory }: JobContext, member: Member): boolean =>
  member.version >= memory.version && !isOver(member, memory);

const ofPod = (
  context: JobContext,
  event: EventName,
  task: Task,
  index: number,
  more: Partial<PolicyEvent>,
): PolicyEvent => {
  const partition = partitionOf(task, index);
  return {
    event,
    task: nameOf(task),
    index,
    ...(partition === undefined ? {} : { partition }),
    exitCodes: [],
    at: context.view.now,
    ...more,
  };
};

const witnessOf = ({ pod }: Member): { readonly witness: NonNullable<PolicyEvent["witness"]> } => ({
  witness: { name: pod.metadata.name, uid: pod.metadata.uid },
});

const isDisrupted = ({ pod }: Member): boolean => {
  const status = podStatus(pod);
  return (disruptionOf(status) ?? statusDisruption(status)) !== undefined;
};

/** Failed pods. A failed pod whose deletion is requested is no failure: it is an eviction as soon as it is gone. */
const failures = (context: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const known = ofTask(context.memory.failed, nameOf(task));
  return members
    .filter((member) => member.phase === "Failed" && !member.ending && !known.has(member.index))
    .filter((member) => isCurrent(context, member))
    .map((member) =>
      ofPod(context, "PodFailed", task, member.index, {
        exitCodes: exitCodesOf(member),
        at: instantOf(finishedAtOf(member)) ?? context.view.now,
        ...(isDisrupted(member) ? { disrupted: true } : {}),
        ...witnessOf(member),
      }),
    );
};

/** Seen ordinals without a pod, except those that were evicted for another group. `seen` drops a done ordinal when its pod is gone, so it is no eviction. */
const evictions = (context: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const there = new Set(members.map(({ index }) => index));
  const missing = [...ofTask(context.memory.seen, nameOf(task))].filter((index) => !there.has(index));
  const mark = evictionIn(context);
  return missing
    .filter((index) => mark === undefined || !isMarked(mark, nameOf(task), index))
    .filter((index) => index < replicasOf(task))
    .sort((a, b) => a - b)
    .map((index) =>
      ofPod(context, "PodEvicted", task, index, {
        disrupted: true,
        witness: { name: podName(ownerOf(context).name, nameOf(task), index) },
      }),
    );
};

/** True if the job asks for eviction from nodes that are about to go, and the pod's node has a notice. */
export const isLeaving = ({ annotationPolicies }: Pick<JobContext, "annotationPolicies">, { pod }: Member): boolean =>
  annotationPolicies.leaving === "evict" && leavingAt(pod) !== undefined;

/** Unfinished pods on a node with a notice. The end of such a pod, which comes later, belongs to the same event. */
const departures = (context: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] =>
  members
    .filter(
      (member) => isLeaving(context, member) && !member.ending && !hasFinished(member) && isCurrent(context, member),
    )
    .map((member) => ofPod(context, "PodEvicted", task, member.index, { disrupted: true, ...witnessOf(member) }));

/** Pending pods. The policy says how long a pod may wait, so `at` is the pod's creation. */
const waits = (context: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] =>
  members
    .filter((member) => member.phase === "Pending" && !member.ending && isCurrent(context, member))
    .map((member) =>
      ofPod(context, "PodPending", task, member.index, {
        at: instantOf(member.pod.metadata.creationTimestamp) ?? context.view.now,
        ...witnessOf(member),
      }),
    );

const lastOf = (members: readonly Member[]): Member | undefined =>
  [...members].sort((a, b) => (finishedAtOf(a) < finishedAtOf(b) ? -1 : 1)).at(-1);

/** The completion of a task: all its pods are done, at least one of them in the current version. */
const completions = (context: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const succeeded = members.filter((member) => isDone(member, context.memory));
  const last = lastOf(succeeded.filter((member) => isCurrent(context, member)));
  const finished = succeeded.length + removedOf(context, task).length;
  const whole = replicasOf(task) > 0 && finished >= replicasOf(task);
  if (!whole || last === undefined || context.memory.completed.includes(nameOf(task))) return [];
  return [
    {
      event: "TaskCompleted",
      task: nameOf(task),
      exitCodes: [],
      at: instantOf(finishedAtOf(last)) ?? context.view.now,
      ...witnessOf(last),
    },
  ];
};

/** The exhaustion of a task: its containers were restarted `maxRetry` times together. */
const exhaustions = (context: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const most = task.maxRetry ?? 0;
  const live = members.filter((member) => !hasFinished(member) && !member.ending && isCurrent(context, member));
  const worst = [...live].sort((a, b) => restartsOf(b) - restartsOf(a))[0];
  const total = live.reduce((sum, member) => sum + restartsOf(member), 0);
  if (worst === undefined || most <= 0 || total < most || context.memory.exhausted.includes(nameOf(task))) return [];
  return [{ event: "TaskFailed", task: nameOf(task), exitCodes: [], at: context.view.now, ...witnessOf(worst) }];
};

/** Returns the phase of the job's group; "" if there is none. */
export const groupPhase = ({ group }: Pick<JobContext, "group">): string => {
  const { phase } = fieldsOf(group?.status);
  return typeof phase === "string" ? phase : "";
};

/**
 * The group's phase is Unknown: the scheduler lost pods that it had placed. The event concerns the job in any version;
 * a group left behind causes none.
 */
const losses = (context: JobContext): readonly PolicyEvent[] => {
  const { group, memory, view } = context;
  if (group === undefined || groupPhase(context) !== "Unknown") return [];
  if ([memory.unknown, memory.retired].includes(group.metadata.uid)) return [];
  return [{ event: "Unknown", task: "", exitCodes: [], at: view.now }];
};

const kinds = [failures, evictions, departures, waits, completions, exhaustions] as const;

/** Returns all current events in the order of time; events of one instant stay in the order of tasks and pods. */
export const policyEventsOf = (context: JobContext): readonly PolicyEvent[] => {
  const byTask = Map.groupBy(context.members, ({ task }) => task);
  const found = tasksOf(context.spec).flatMap((task) =>
    kinds.flatMap((kind) => kind(context, task, byTask.get(nameOf(task)) ?? [])),
  );
  return [...found, ...losses(context)].sort((a, b) => a.at - b.at);
};

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

/** True if a policy of the job or of a task answers the eviction of a pod. */
export const answersEvictions = (spec: JobSpec): boolean => {
  const about = { event: "PodEvicted", exitCodes: [] } as const;
  return [spec.policies, ...tasksOf(spec).map(({ policies }) => policies)].some(
    (policies = []) => answerOf(policies, { ...about, task: "" }, "job") !== undefined,
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
export type NewDelay = {
  readonly happening: PolicyEvent;
  readonly action: Action;
  readonly delayMs: number;
  readonly dueAt: number;
};

const placeOf = ({ task, index }: ActionTarget): string => `${task}/${index ?? ""}`;

const delayOf = ({ happening, action, dueAt }: NewDelay): Delay => {
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
export const withDelays = (delays: readonly Delay[], arms: readonly NewDelay[]): Delay[] => {
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
export const withoutSuperseded = (delays: readonly Delay[], action: Action, target: ActionTarget): Delay[] => {
  const level = levelOf(action);
  return delays.filter((one) => levelOf(one.action) !== level || !reaches[level](one, target));
};

/** Returns the earliest delay that is due. */
export const dueOf = ({ delays }: Memory, now: number): Delay | undefined =>
  [...delays].sort((a, b) => a.dueAt - b.dueAt).find(({ dueAt }) => dueAt <= now);
