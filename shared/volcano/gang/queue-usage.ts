/**
 * What the pods of groups take of their queues: the pods that exist by their own requests, as the API server made them, and
 * those that a group has room for by the template of its Job.
 */
import { fieldsOf, recordsIn } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { isWaiting } from "../../kube/gang-plan.ts";
import { type PodDefaults, withPodDefaults } from "../../kube/pod-defaults.ts";
import { type Amounts, add, merged, multiply, requestsOf } from "../../kube/pod-usage.ts";
import { larger } from "../../kube/quantity.ts";
import { roomOf, wantedOf } from "../../kube/queue-room.ts";
import { counts, inOrder, type Priorities, ranked } from "../podgroup/group.ts";
import { nameOf, replicasOf } from "../schema/spec.ts";
import { specIn } from "../validation/parse.ts";
import { byGroup, keyOf, ofTask } from "./group-pods.ts";
import { jobOwnerOf } from "./outlines.ts";

/** The condition of a group that waits, or of which pods wait. */
export const shortageCondition = "Unschedulable";

/** The pods of one task as its queue counts them. `size`: the requests of one pod. */
export type TaskUsage = {
  readonly task: string;
  readonly size: Amounts;
  /** Pods of the group's minimum. */
  readonly least: number;
  /** Unfinished pods that the task may have. */
  readonly room: number;
  /** Unfinished pods that the task wants. */
  readonly wanted: number;
};

/** The usage of groups in a round; `undefined`: a group's Job cannot be read, or it has none. */
export type QueueUsage = {
  /** Returns what a waiting group needs for its minimum. */
  readonly needOf: (group: Stored) => Amounts | undefined;
  /** Returns what an admitted group holds; `stated`: what it holds without a look at its pods. */
  readonly heldBy: (group: Stored, stated: Amounts) => Amounts;
  /** Returns the tasks of a group. */
  readonly tasksOf: (group: Stored) => readonly TaskUsage[] | undefined;
};

/** True for an admitted group of a Job that wants more pods than it has room for, or that states no room yet. */
export const asksForRoom = (group: Stored): boolean =>
  jobOwnerOf(group) !== undefined &&
  (roomOf(group) === undefined || Object.keys(wantedOf(group) ?? {}).length > 0 || hasShortage(group));

/** True for a group of which pods wait for room, as its status says. */
const hasShortage = (group: Stored): boolean =>
  recordsIn(fieldsOf(group.status)["conditions"]).some(({ type }) => type === shortageCondition);

type Given = {
  readonly pods: readonly Stored[];
  readonly jobs: readonly Stored[];
  readonly priorities: Priorities;
  /** What the API server adds to pods. */
  readonly defaults: PodDefaults;
};

const requestsOfPod = (pod: Stored): Amounts => requestsOf(fieldsOf(pod.spec));

const sumOf = (pods: readonly Stored[]): Amounts => {
  const sum = new Map();
  for (const pod of pods) add(sum, requestsOfPod(pod));
  return sum;
};

/** Returns the larger of the template's size and those of the task's pods: an admission plug-in may have added to them. */
const sizeOf = (template: Amounts, pods: readonly Stored[]): Amounts =>
  pods.reduce<Amounts>((size, pod) => merged(size, requestsOfPod(pod), larger), template);

const tasksIn = (group: Stored, job: Stored, { pods, priorities, defaults }: Omit<Given, "jobs">) => {
  const { namespace = "" } = group.metadata;
  const read = job.spec === undefined ? undefined : specIn(job);
  if (read?.ok !== true) return undefined;
  const tasks = inOrder(ranked(read.spec, priorities));
  const least = counts(tasks, read.spec.minAvailable ?? 0);
  const [room, wanted] = [isWaiting(group) ? undefined : roomOf(group), wantedOf(group) ?? {}];
  return tasks.map(({ task }, at): TaskUsage => {
    const name = nameOf(task);
    const own = ofTask(pods, name);
    const given = room === undefined ? Math.max(least[at] ?? 0, own.length) : (room[name] ?? 0);
    return {
      ...{ task: name, least: least[at] ?? 0, room: given },
      size: sizeOf(requestsOf(withPodDefaults(task.template?.spec ?? {}, namespace, defaults)), own),
      wanted: Math.max(given, room === undefined ? replicasOf(task) : (wanted[name] ?? 0)),
    };
  });
};

const heldOf = (tasks: readonly TaskUsage[], pods: readonly Stored[]): Amounts => {
  const sum = new Map(sumOf(pods));
  for (const { task, size, room } of tasks) {
    const uncreated = room - ofTask(pods, task).length;
    if (uncreated > 0) add(sum, multiply(size, uncreated));
  }
  return sum;
};

/** Opens the usage of one round. Each Job is read at most once. */
export const openUsage = ({ pods, jobs, ...given }: Given): QueueUsage => {
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const own = byGroup(pods);
  const podsOf = (group: Stored): readonly Stored[] => own.get(keyOf(group)) ?? [];
  const known = new Map<string, readonly TaskUsage[] | undefined>();
  const tasksOf = (group: Stored): readonly TaskUsage[] | undefined => {
    const { uid } = group.metadata;
    const job = byUid.get(jobOwnerOf(group)?.uid ?? "");
    if (job !== undefined && !known.has(uid)) known.set(uid, tasksIn(group, job, { ...given, pods: podsOf(group) }));
    return known.get(uid);
  };
  return {
    tasksOf,
    needOf: (group) =>
      tasksOf(group)?.reduce<Amounts>((sum, { size, least }) => merged(sum, multiply(size, least)), new Map()),
    heldBy: (group, stated) => {
      const there = podsOf(group);
      const tasks = tasksOf(group);
      return tasks === undefined ? merged(stated, sumOf(there), larger) : heldOf(tasks, there);
    },
  };
};
