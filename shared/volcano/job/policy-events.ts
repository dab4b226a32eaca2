/**
 * What has happened to a job since its last step, read off what is: upstream's events as levels. Each is an event once,
 * for what was one already is remembered.
 */
import { instantOf } from "../../core/time.ts";
import { disruptionOf, statusDisruption } from "../../kube/disruption.ts";
import { leavingAt } from "../../kube/node-notice.ts";
import { podStatus } from "../../kube/pods.ts";
import { podName } from "../pods/names.ts";
import { partitionOf } from "../pods/pod.ts";
import { nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { removedOf } from "./completed-pods.ts";
import { type JobContext, ownerOf } from "./context.ts";
import { ofTask } from "./ordinals.ts";
import { exitCodesOf, finishedAtOf, hasFinished, isDone, isOver, type Member, restartsOf } from "./pods.ts";

export type EventName = "PodFailed" | "PodEvicted" | "PodPending" | "TaskCompleted" | "TaskFailed" | "Unknown";

export type PolicyEvent = {
  readonly event: EventName;
  readonly task: string;
  readonly index?: number;
  readonly partition?: string;
  readonly exitCodes: readonly number[];
  /** Somebody from outside took the pod away, or down: by deletion, eviction, preemption, or with its node. */
  readonly disrupted?: true;
  /** When, epoch ms; what says nothing of its time is thought to be of this moment. */
  readonly at: number;
  /** The pod that bears witness: by whose name to ask again, and which one it must still be. `uid` absent: it must be gone. */
  readonly witness?: { readonly name: string; readonly uid?: string };
};

const isCurrent = ({ memory }: JobContext, member: Member): boolean =>
  member.version >= memory.version && !isOver(member, memory);

const ofPod = (
  scene: JobContext,
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
    at: scene.view.now,
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

/** A failed pod that somebody removes is an eviction as soon as it is gone, and no failure. */
const failures = (scene: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const known = ofTask(scene.memory.failed, nameOf(task));
  return members
    .filter((member) => member.phase === "Failed" && !member.ending && !known.has(member.index))
    .filter((member) => isCurrent(scene, member))
    .map((member) =>
      ofPod(scene, "PodFailed", task, member.index, {
        exitCodes: exitCodesOf(member),
        at: instantOf(finishedAtOf(member)) ?? scene.view.now,
        ...(isDisrupted(member) ? { disrupted: true } : {}),
        ...witnessOf(member),
      }),
    );
};

/** Seen, and not there any more; one that was done before is forgotten as seen when it goes. */
const evictions = (scene: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const there = new Set(members.map(({ index }) => index));
  const missing = [...ofTask(scene.memory.seen, nameOf(task))].filter((index) => !there.has(index));
  return missing
    .filter((index) => index < replicasOf(task))
    .sort((a, b) => a - b)
    .map((index) =>
      ofPod(scene, "PodEvicted", task, index, {
        disrupted: true,
        witness: { name: podName(ownerOf(scene).name, nameOf(task), index) },
      }),
    );
};

/** The job wants its pods to leave a node that is about to go, and this one is on such a node. */
export const isLeaving = ({ wishes }: Pick<JobContext, "wishes">, { pod }: Member): boolean =>
  wishes.leaving === "evict" && leavingAt(pod) !== undefined;

/** Pods that still run on a node that is about to go. Their real end, which comes later, is the same event. */
const departures = (scene: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] =>
  members
    .filter((member) => isLeaving(scene, member) && !member.ending && !hasFinished(member) && isCurrent(scene, member))
    .map((member) => ofPod(scene, "PodEvicted", task, member.index, { disrupted: true, ...witnessOf(member) }));

/** Pods that wait; for how long is a policy's matter, so `at` is when they were made. */
const waits = (scene: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] =>
  members
    .filter((member) => member.phase === "Pending" && !member.ending && isCurrent(scene, member))
    .map((member) =>
      ofPod(scene, "PodPending", task, member.index, {
        at: instantOf(member.pod.metadata.creationTimestamp) ?? scene.view.now,
        ...witnessOf(member),
      }),
    );

const lastOf = (members: readonly Member[]): Member | undefined =>
  [...members].sort((a, b) => (finishedAtOf(a) < finishedAtOf(b) ? -1 : 1)).at(-1);

/** All pods of a task are done, at least one of them in this version. */
const completions = (scene: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const succeeded = members.filter((member) => isDone(member, scene.memory));
  const last = lastOf(succeeded.filter((member) => isCurrent(scene, member)));
  const finished = succeeded.length + removedOf(scene, task).length;
  const whole = replicasOf(task) > 0 && finished >= replicasOf(task);
  if (!whole || last === undefined || scene.memory.completed.includes(nameOf(task))) return [];
  return [
    {
      event: "TaskCompleted",
      task: nameOf(task),
      exitCodes: [],
      at: instantOf(finishedAtOf(last)) ?? scene.view.now,
      ...witnessOf(last),
    },
  ];
};

/** Containers of a task's pods have been started again too often. */
const exhaustions = (scene: JobContext, task: Task, members: readonly Member[]): readonly PolicyEvent[] => {
  const most = task.maxRetry ?? 0;
  const live = members.filter((member) => !hasFinished(member) && !member.ending && isCurrent(scene, member));
  const worst = [...live].sort((a, b) => restartsOf(b) - restartsOf(a))[0];
  const total = live.reduce((sum, member) => sum + restartsOf(member), 0);
  if (worst === undefined || most <= 0 || total < most || scene.memory.exhausted.includes(nameOf(task))) return [];
  return [{ event: "TaskFailed", task: nameOf(task), exitCodes: [], at: scene.view.now, ...witnessOf(worst) }];
};

/** The phase that a group is in, as far as it says. */
export const groupPhase = ({ group }: Pick<JobContext, "group">): string => {
  const { phase } = Object(group?.["status"]);
  return typeof phase === "string" ? phase : "";
};

/** The scheduler has lost what it had placed: about the job as it is, whatever its version, but not of a group left behind. */
const losses = (scene: JobContext): readonly PolicyEvent[] => {
  const { group, memory, view } = scene;
  if (group === undefined || groupPhase(scene) !== "Unknown") return [];
  if ([memory.unknown, memory.retired].includes(group.metadata.uid)) return [];
  return [{ event: "Unknown", task: "", exitCodes: [], at: view.now }];
};

const kinds = [failures, evictions, departures, waits, completions, exhaustions] as const;

/** Everything that is an event now, in the order in which it happened; of one moment, in the order of the pods. */
export const policyEventsOf = (scene: JobContext): readonly PolicyEvent[] => {
  const byTask = Map.groupBy(scene.members, ({ task }) => task);
  const found = tasksOf(scene.spec).flatMap((task) =>
    kinds.flatMap((kind) => kind(scene, task, byTask.get(nameOf(task)) ?? [])),
  );
  return [...found, ...losses(scene)].sort((a, b) => a.at - b.at);
};
