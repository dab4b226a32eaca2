/**
 * The parts of groups and Jobs that an admission round reads, and the pods that a group needs beyond its plan. A
 * round lists all namespaces, and tenants write the objects, so it keeps of each object a bounded part, and of the
 * Jobs of one namespace a share of all.
 */

import { fieldsOf, recordsIn } from "../../core/json.ts";
import {
  type Metadata,
  type OwnerReference,
  ownerOfKind,
  type Stored,
  type StoredMetadata,
} from "../../core/object.ts";
import type { Projection } from "../../core/plan.ts";
import { bytesOf, openShare } from "../../core/share.ts";
import { evictedKey, mostEvictedText } from "../../kube/gang-eviction.ts";
import { type GangMembers, membersKey, membersOf, mostMembersText, schedulingPart } from "../../kube/gang-members.ts";
import {
  lacksRoomKey,
  mostPlanBytes,
  planKey,
  scheduledByKey,
  takenBackKey,
  takenBackOf,
} from "../../kube/gang-plan.ts";
import { antiAffinityIn, isBetweenNodes } from "../../kube/pod-anti-affinity.ts";
import { noPodDefaults, type PodDefaults, withPodDefaults } from "../../kube/pod-defaults.ts";
import { amountsIn, merged, requestsOf } from "../../kube/pod-usage.ts";
import { larger, quantityText } from "../../kube/quantity.ts";
import { mostCountsText, roomKey, wantedKey } from "../../kube/queue-room.ts";
import type { Json } from "../../kube/responses.ts";
import type { Labels } from "../../kube/selector.ts";
import { only } from "../../kube/trim.ts";
import { counts, inOrder, type Priorities, ranked } from "../podgroup/group.ts";
import { specOf, statusOf } from "../queue/state/tree.ts";
import { jobs, keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { specIn } from "../validation/parse.ts";
import { type Limit, type Part, type Partition, partOf, type RoundWork } from "./fit.ts";

/** `unplanned`: the group has no Job that says what its pods are, and does not state its members. `refused`: `why` says what no plan covers. */
export type Demand =
  | { readonly is: "planned"; readonly parts: readonly Part[]; readonly limit?: Limit | undefined }
  | { readonly is: "unplanned" }
  | { readonly is: "refused"; readonly why: string };

export const required = "requiredDuringSchedulingIgnoredDuringExecution";

const hasItems = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** Returns the constraint of a pod's spec that no plan covers. */
const beyondPlan = (spec: Json): string | undefined => {
  const affinity = fieldsOf(spec["affinity"]);
  if (hasItems(fieldsOf(affinity["podAffinity"])[required])) return "required pod affinity";
  const apart = antiAffinityIn(spec);
  if (!apart.every(isBetweenNodes))
    return "required pod anti-affinity with another topologyKey than kubernetes.io/hostname, a namespaceSelector or matchLabelKeys";
  if (JSON.stringify(apart).includes(keys.taskIndex)) return `required pod anti-affinity by ${keys.taskIndex}`;
  const spreads = recordsIn(spec["topologySpreadConstraints"]);
  if (spreads.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule"))
    return "a topology spread constraint with DoNotSchedule";
  return hasItems(spec["resourceClaims"]) ? "resource claims" : undefined;
};

/** Returns the limit of a network topology; undefined without one. Without a tier it limits nothing, as in volcano's IsHardTopologyMode. */
const limitOf = (topology: JobSpec["networkTopology"]): Limit | undefined => {
  if (topology === undefined) return undefined;
  const { mode, highestTierAllowed: tier, highestTierName: tierName = "" } = topology;
  if (mode === "soft" || (tier === undefined && tierName === "")) return { mode: "soft" };
  return { mode: "hard", ...(tier === undefined ? { tierName } : { tier }) };
};

/** Returns the partitions of a task that have a network topology. */
const partitionOf = ({ partitionPolicy }: Task): Partition | undefined => {
  const limit = limitOf(partitionPolicy?.networkTopology);
  const size = partitionPolicy?.partitionSize ?? 0;
  return limit === undefined || size <= 0 ? undefined : { size, limit };
};

/** True for a Job whose pods are to be near to each other. */
export const asksForHyperNodes = (job: Stored): boolean => {
  const { networkTopology, tasks } = specOf(job);
  return (
    networkTopology !== undefined ||
    recordsIn(tasks).some(({ partitionPolicy }) => fieldsOf(partitionPolicy)["networkTopology"] !== undefined)
  );
};

const refusalOf = (spec: JobSpec): string | undefined => {
  for (const task of tasksOf(spec)) {
    const beyond = beyondPlan(task.template?.spec ?? {});
    if (beyond !== undefined) return `task ${nameOf(task)} has ${beyond}`;
  }
  return undefined;
};

/** Returns the reference of a group to its Job; undefined if it has none. */
export const jobOwnerOf = (group: Stored): OwnerReference | undefined => ownerOfKind(group, jobs);

/** Returns the reference of a group to the controller that creates its pods, if that is no Job; undefined if it has none. */
export const controllerOf = (group: Stored): OwnerReference | undefined =>
  jobOwnerOf(group) === undefined
    ? group.metadata.ownerReferences?.find(({ controller }) => controller === true)
    : undefined;

const tooMuch =
  "its Job, or the Jobs of its namespace that wait before it, hold too much text for one admission round: wait, or make them smaller";

/** Returns the labels that all pods of a task have, as far as the outline of a Job shows them. */
const labelsOf = (job: Stored, spec: JobSpec, task: Task): Labels => ({
  ...task.template?.metadata?.labels,
  [keys.jobName]: job.metadata.name,
  [keys.jobNamespace]: job.metadata.namespace ?? "",
  [keys.taskSpec]: nameOf(task),
  [keys.queueName]: spec.queue ?? "",
});

const partsOf = (job: Stored, spec: JobSpec, { priorities, work }: Jobs, made: Made): readonly Part[] => {
  const { namespace = "" } = job.metadata;
  const tasks = inOrder(ranked(spec, priorities));
  const least = counts(tasks, spec.minAvailable ?? 0);
  return tasks.map(({ task }, at) => {
    const labels = labelsOf(job, spec, task);
    const partition = partitionOf(task);
    // A partition with a hard topology has all of its places, or none.
    const step = partition?.limit.mode === "hard" ? partition.size : 1;
    const whole = Math.min(replicasOf(task), Math.ceil((least[at] ?? 0) / step) * step);
    return partOf(nameOf(task), made(task.template?.spec ?? {}, nameOf(task)), whole, replicasOf(task), {
      ...{ work, namespace, labels, partition },
    });
  });
};

/** Returns the spec of a pod of a task as the API server stores it. */
type Made = (spec: Json, task: string) => Json;

/** Counts what the API server adds to a pod, and what pods of the group showed when places refused them. */
const madeIn =
  (group: Stored, { defaults = noPodDefaults }: Jobs): Made =>
  (spec, task) => {
    const whole = withPodDefaults(spec, group.metadata.namespace ?? "", defaults);
    const shown = takenBackOf(group)?.sizes?.[task];
    return shown === undefined ? whole : atLeast(whole, shown);
  };

/** Returns the spec with requests for the whole pod that are at least as large. */
const atLeast = (spec: Json, shown: Readonly<Record<string, string>>): Json => {
  const requests = merged(requestsOf(spec), amountsIn(shown), larger);
  const texts = [...requests].filter(([name]) => name !== "pods").map(([name, one]) => [name, quantityText(one)]);
  const { overhead: _, ...rest } = spec;
  return { ...rest, resources: { ...fieldsOf(spec["resources"]), requests: Object.fromEntries(texts) } };
};

/** The Jobs of a round by UID, the priorities of classes, and the account of the round's work. */
export type Jobs = {
  readonly byUid: ReadonlyMap<string, Stored>;
  readonly priorities: Priorities;
  readonly work: RoundWork;
  /** What the API server adds to pods; absent: nothing. */
  readonly defaults?: PodDefaults | undefined;
};

/** Characters of a Job that take as long to read as a look at a node. */
const charactersPerLook = 8;

const remedy = "which `gang: builtin` cannot plan: remove it, or set gang to none";

/** Returns the members that a group without a Job states. */
export const statedMembers = (group: Stored): GangMembers | undefined =>
  jobOwnerOf(group) === undefined ? membersOf(group) : undefined;

/** Returns the hard topology of a group that states its members: Rekindle does not create its pods. */
const hardOf = ({ networkTopology, subGroupPolicy }: Json): string | undefined => {
  const all = [networkTopology, ...recordsIn(subGroupPolicy).map((policy) => policy["networkTopology"])];
  return all.some((one) => fieldsOf(one)["mode"] === "hard") ? "it has a hard networkTopology" : undefined;
};

/** Returns what a group needs that has no Job. */
const statedDemand = (group: Stored, jobs: Jobs): Demand => {
  const { work } = jobs;
  const made = madeIn(group, jobs);
  const text = group.metadata.annotations?.[membersKey];
  if (text === undefined) return { is: "unplanned" };
  work.looks += text.length / charactersPerLook;
  const stated = membersOf(group);
  if (stated === undefined)
    return { is: "refused", why: `its annotation ${membersKey} cannot be read, or is too long for one round` };
  for (const { task, spec } of stated.members) {
    const beyond = beyondPlan(spec);
    if (beyond !== undefined) return { is: "refused", why: `task ${task} has ${beyond}, ${remedy}` };
  }
  const near = hardOf(specOf(group));
  if (near !== undefined) return { is: "refused", why: `${near}, ${remedy}` };
  const { namespace = "" } = group.metadata;
  const parts = stated.members.map(({ task, spec, count, labels }) =>
    partOf(task, made(spec, task), count, count, { work, namespace, labels }),
  );
  return { is: "planned", parts };
};

/** Returns what a group needs. */
export const demandOf = (group: Stored, jobsOfRound: Jobs): Demand => {
  const { byUid, work } = jobsOfRound;
  const owner = jobOwnerOf(group);
  if (owner === undefined) return statedDemand(group, jobsOfRound);
  const job = byUid.get(owner.uid);
  if (job === undefined) return { is: "refused", why: "its Job is not found" };
  if (job.spec === undefined) return { is: "refused", why: tooMuch };
  work.looks += JSON.stringify(job.spec).length / charactersPerLook;
  const read = specIn(job);
  if (!read.ok) return { is: "refused", why: `its Job is refused: ${read.message}` };
  const refused = refusalOf(read.spec);
  if (refused === undefined)
    return {
      is: "planned",
      parts: partsOf(job, read.spec, jobsOfRound, madeIn(group, jobsOfRound)),
      limit: limitOf(read.spec.networkTopology),
    };
  return { is: "refused", why: `${refused}, ${remedy}` };
};

/** The most conditions, and the most writers, of a group that are kept. */
const mostEntries = 50;
/** The most text of the Jobs of one round, characters. */
const mostText = 8_000_000;
/** The largest size of a group that counts, bytes: an API server keeps no object that is much larger. */
const mostSize = 1_048_576;

/** Identity and times, and of the annotations those named. */
export const metadataOf = ({ metadata }: Stored, names: readonly string[]): StoredMetadata => {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, annotations = {} } = metadata;
  const kept = names.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]] as const]));
  const optional: Partial<Metadata> = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
  };
  return { name, uid, resourceVersion, ...optional };
};

export const marked = (metadata: StoredMetadata, more: Readonly<Record<string, string>>): StoredMetadata =>
  Object.keys(more).length === 0 ? metadata : { ...metadata, annotations: { ...metadata.annotations, ...more } };

/** The writers of an object and their times, which tell whether Volcano's scheduler is at work. */
const writersOf = ({ metadata }: Stored): Json => {
  const { managedFields } = fieldsOf(metadata);
  if (!Array.isArray(managedFields)) return {};
  return {
    managedFields: recordsIn(managedFields)
      .slice(-mostEntries)
      .map((share) => only(share, ["manager", "time"])),
  };
};

/** Marks of a group, and the most characters of each: a longer one is no mark of Rekindle's. */
const marks = {
  ...{ [scheduledByKey]: 253, [lacksRoomKey]: 64, [takenBackKey]: 65_536 },
  ...{ [roomKey]: mostCountsText, [wantedKey]: mostCountsText },
  ...{ [planKey]: mostPlanBytes, [membersKey]: mostMembersText, [evictedKey]: mostEvictedText },
} as const;

/** Keeps that pods must not be evicted for other groups, by an annotation or a label. */
export const refusalIn = ({ metadata: { annotations = {}, labels = {} } }: Stored): Readonly<Record<string, string>> =>
  [annotations, labels].some((marks) => marks[keys.preemptable] === "false") ? { [keys.preemptable]: "false" } : {};

/** Members that are not kept leave an annotation that cannot be read, so that no group is admitted without its plan. */
const unread = (group: Stored, kept: readonly string[]): Readonly<Record<string, string>> =>
  group.metadata.annotations?.[membersKey] === undefined || kept.includes(membersKey) ? {} : { [membersKey]: "" };

/**
 * Keeps of a group what a round reads, and its size; `resources`: the resources that queues state. A group for whose
 * marks the share of its namespace has no room counts as one without a plan.
 */
export const groupOutline = (resources: ReadonlySet<string>, most = mostText): Projection => {
  const share = openShare(most);
  return (group) => {
    const { conditions, ...status } = statusOf(group);
    const owner = jobOwnerOf(group) ?? controllerOf(group);
    const { minResources, ...spec } = specOf(group);
    const { namespace = "", annotations = {} } = group.metadata;
    const named = Object.entries(marks).filter(([key, longest]) => (annotations[key]?.length ?? 0) <= longest);
    const size = named.reduce((sum, [key]) => sum + (annotations[key]?.length ?? 0), 0);
    const kept = share.take(namespace, size) ? named.map(([key]) => key) : [scheduledByKey];
    return {
      ...{ apiVersion: group.apiVersion, kind: group.kind, size: Math.min(mostSize, bytesOf(group, mostSize)) },
      metadata: {
        ...marked(metadataOf(group, kept), { ...unread(group, kept), ...refusalIn(group) }),
        ...writersOf(group),
        ...(owner === undefined ? {} : { ownerReferences: [owner] }),
      },
      spec: {
        ...only(spec, ["queue", "priorityClassName", "minMember"]),
        ...(owner === undefined ? topologyIn(spec) : {}),
        minResources: only(fieldsOf(minResources), [...resources]),
      },
      status: {
        ...only(status, ["phase"]),
        ...(Array.isArray(conditions) ? { conditions: conditions.slice(-mostEntries) } : {}),
      },
    };
  };
};

/** Keeps the modes of a group's topologies. */
const topologyIn = ({ networkTopology, subGroupPolicy }: Json): Json => {
  const modeOf = (topology: unknown): Json => only(fieldsOf(topology), ["mode"]);
  const policies = recordsIn(subGroupPolicy).slice(0, mostEntries);
  return {
    ...(networkTopology === undefined ? {} : { networkTopology: modeOf(networkTopology) }),
    ...(policies.length === 0
      ? {}
      : { subGroupPolicy: policies.map((policy) => ({ networkTopology: modeOf(policy["networkTopology"]) })) }),
  };
};

const taskOutline = (task: Json): Json => {
  const { metadata, spec } = fieldsOf(task["template"]);
  const { labels } = fieldsOf(metadata);
  return {
    ...only(task, ["name", "replicas", "minAvailable", "partitionPolicy", "dependsOn"]),
    template: { ...(labels === undefined ? {} : { metadata: { labels } }), spec: schedulingPart(fieldsOf(spec)) },
  };
};

/**
 * Keeps of the Jobs with these UIDs what a plan of their pods reads. A Job without a spec is one for which the share of
 * its namespace has no room: a namespace keeps at most as much text as all others may still keep. The Jobs in `counted`, whose
 * minima count, have shares of their own.
 */
export const jobOutlines = (
  uids: ReadonlySet<string>,
  most = mostText,
  counted: ReadonlySet<string> = new Set(),
): Projection => {
  const [planned, admitted] = [openShare(most), openShare(most)];
  return (job) => {
    const isPlanned = uids.has(job.metadata.uid);
    if (!isPlanned && !counted.has(job.metadata.uid)) return undefined;
    const share = isPlanned ? planned : admitted;
    const spec = specOf(job);
    const outline = {
      ...only(spec, ["minAvailable", "priorityClassName", "networkTopology", "schedulerName", "queue"]),
      tasks: recordsIn(spec["tasks"]).map(taskOutline),
    };
    const { namespace = "" } = job.metadata;
    const kept = { apiVersion: job.apiVersion, kind: job.kind, metadata: metadataOf(job, []) };
    return share.take(namespace, JSON.stringify(outline).length) ? { ...kept, spec: outline } : kept;
  };
};
