/** The PodGroup of a job: the pods that the scheduler must place together, and where. */

import { oncePer } from "../../core/cache.ts";
import { fieldsOf, isRecord, mergePatch } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import { add, multiply, usageOf } from "../../kube/pod-usage.ts";
import { type Quantity, quantityText } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";
import { trim } from "../../kube/trim.ts";
import { groupName, ownerReference } from "../pods/names.ts";
import type { PodInput } from "../pods/pod.ts";
import { keys, podGroups } from "../schema/resource.ts";
import { type JobSpec, leastOf, type NetworkTopology, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";

/** A task and the value of its pods' priority class. */
type Ranked = { readonly task: Task; readonly priority: number };

/** Sorts tasks by the priority of their pods, the highest first. */
export const inOrder = (tasks: readonly Ranked[]): readonly Ranked[] =>
  [...tasks].sort((a, b) => b.priority - a.priority);

/** Takes up to each limit, in order, until the total is reached. */
const taken = (limits: readonly number[], total: number): readonly number[] => {
  let left = total;
  return limits.map((limit) => {
    const count = Math.max(0, Math.min(limit, left));
    left -= count;
    return count;
  });
};

/** Returns how many pods of each task count: the minimum of each, filled up from the rest; fewer if `least` is less. */
export const counts = (tasks: readonly Ranked[], least: number): readonly number[] => {
  const minima = tasks.map(({ task }) => leastOf(task));
  const together = minima.reduce((sum, one) => sum + one, 0);
  if (least < together) return taken(minima, least);
  const rest = taken(
    tasks.map(({ task }, at) => replicasOf(task) - (minima[at] ?? 0)),
    least - together,
  );
  return minima.map((minimum, at) => minimum + (rest[at] ?? 0));
};

/** Returns `minResources` of the group, as texts. */
export const minResources = (tasks: readonly Ranked[], least: number): Readonly<Record<string, string>> => {
  const ordered = inOrder(tasks);
  const numbers = counts(ordered, least);
  const sum = new Map<string, Quantity>();
  for (const [at, { task }] of ordered.entries()) {
    const count = numbers[at] ?? 0;
    if (count > 0) add(sum, multiply(usageOf(task.template?.spec ?? {}), count));
  }
  return Object.fromEntries([...sum].map(([name, amount]) => [name, quantityText(amount)]));
};

const memberOf = (task: Task): number => {
  const { minPartitions = 0, partitionSize = 0 } = task.partitionPolicy ?? {};
  return task.minAvailable ?? (minPartitions * partitionSize || replicasOf(task));
};

const topologyOf = ({ mode, highestTierAllowed, highestTierName }: NetworkTopology): Json => ({
  ...(mode === undefined ? {} : { mode }),
  ...(highestTierAllowed === undefined ? {} : { highestTierAllowed }),
  ...(highestTierName === undefined ? {} : { highestTierName }),
});

const topological = (topology: NetworkTopology | undefined): Json =>
  topology === undefined ? {} : { networkTopology: topologyOf(topology) };

const subGroups = (tasks: readonly Task[]): readonly Json[] =>
  tasks.flatMap((task) => {
    const { partitionPolicy: policy } = task;
    if (policy === undefined) return [];
    return [
      {
        name: nameOf(task),
        subGroupSize: policy.partitionSize ?? 0,
        minSubGroups: policy.minPartitions ?? 0,
        labelSelector: { matchLabels: { [keys.taskSpec]: nameOf(task) } },
        matchLabelKeys: [keys.partition],
        ...topological(policy.networkTopology),
      },
    ];
  });

/** Priorities by the names of their classes. */
export type Priorities = ReadonlyMap<string, number>;

/** Returns the tasks of a job with the priorities of their pods. */
export const ranked = (spec: JobSpec, priorities: Priorities): readonly Ranked[] =>
  tasksOf(spec).map((task) => {
    const own = task.template?.spec?.["priorityClassName"];
    const name = typeof own === "string" && own !== "" ? own : (spec.priorityClassName ?? "");
    return { task, priority: priorities.get(name) ?? 0 };
  });

/** Returns `minResources` of a job whose tasks name no priority class. */
const unrankedResources = oncePer((spec: JobSpec) => minResources(ranked(spec, new Map()), spec.minAvailable ?? 0));

const resourcesOf = (spec: JobSpec, priorities: Priorities): Readonly<Record<string, string>> =>
  priorities.size === 0 ? unrankedResources(spec) : minResources(ranked(spec, priorities), spec.minAvailable ?? 0);

const specOf = (input: PodInput, priorities: Priorities): Json => {
  const { spec } = input;
  const tasks = tasksOf(spec);
  const groups = subGroups(tasks);
  return {
    minMember: spec.minAvailable ?? 0,
    minTaskMember: Object.fromEntries(tasks.map((task) => [nameOf(task), memberOf(task)])),
    queue: spec.queue ?? "",
    minResources: resourcesOf(spec, priorities),
    ...(spec.priorityClassName === undefined ? {} : { priorityClassName: spec.priorityClassName }),
    ...topological(spec.networkTopology),
    ...(groups.length === 0 ? {} : { subGroupPolicy: groups }),
  };
};

export const podGroup = (input: PodInput, priorities: Priorities): Obj => {
  const { owner, labels, annotations } = input;
  return {
    apiVersion: apiVersionOf(podGroups),
    kind: podGroups.kind,
    metadata: {
      name: groupName(owner),
      namespace: owner.namespace,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [ownerReference(owner)],
    },
    spec: specOf(input, priorities),
  };
};

/** Trims a watched group. A group is small, and decisions read nearly all of it. */
export const trimGroup = (group: Stored): Stored => ({
  ...trim(group),
  spec: fieldsOf(group.spec),
  status: fieldsOf(group.status),
});

/** Fields that follow the job, as upstream updates them; queue and topology stay as they were. */
const followed = ["minMember", "minResources", "minTaskMember", "priorityClassName", "subGroupPolicy"];

const only = (spec: unknown): Json =>
  isRecord(spec) ? Object.fromEntries(Object.entries(spec).filter(([name]) => followed.includes(name))) : {};

/** Returns the merge patch that makes the group match the job; undefined if it does. */
export const groupPatch = (there: Stored, wanted: Obj): Json | undefined => {
  const patch = mergePatch(only(there.spec), only(wanted.spec));
  return isRecord(patch) ? { spec: patch } : undefined;
};
