/** The context of one Job step: the object, its memory, its pods and its group; and helpers on them. */

import type { Key } from "../../core/key.ts";
import { type Resource, refTo, type Stored } from "../../core/object.ts";
import type { Effect, Looking, View } from "../../core/plan.ts";
import { backoffOf } from "../../core/time.ts";
import { type Evicted, evictedOf } from "../../kube/gang-eviction.ts";
import { type GangPlan, nodesOf, planOf, scheduledByKey } from "../../kube/gang-plan.ts";
import { topologyOf } from "../../kube/gang-topology.ts";
import type { Placement } from "../../kube/kueue-placement.ts";
import type { WorkloadState } from "../../kube/kueue-workload.ts";
import { isNative } from "../../kube/native-gang.ts";
import { pods } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import type { Order } from "../command/order.ts";
import type { Priorities } from "../podgroup/group.ts";
import { groupName, type Owner } from "../pods/names.ts";
import type { PodInput } from "../pods/pod.ts";
import { keys, podGroups } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import type { AnnotationPolicies } from "./annotations.ts";
import { moveFor } from "./machine.ts";
import type { Memory } from "./memory.ts";
import { type Counting, countingOf, isOver, type Member, removedIn, type Tally, tallyOf } from "./pods.ts";

type Backoff = NonNullable<Memory["backoff"]>;

/** Returns the wait that a restart at `now` begins, epoch ms; undefined if the job asks for none. */
export const backoffAfter = (
  before: Backoff | undefined,
  { backoffMs, backoffMaxMs, goodRunMs }: Pick<AnnotationPolicies, "backoffMs" | "backoffMaxMs" | "goodRunMs">,
  now: number,
): Backoff | undefined => {
  if (backoffMs === undefined) return undefined;
  const restarts = before !== undefined && now - before.until < goodRunMs ? before.restarts + 1 : 1;
  const waitMs = backoffOf(restarts - 1, backoffMs, backoffMaxMs);
  return { restarts, until: now + Math.max(waitMs, Math.min(backoffMs, backoffMaxMs)) };
};

/** Returns the instant until which the pods of the current restart wait, epoch ms; undefined if nothing waits. */
export const heldUntil = ({ phase, backoff }: Pick<Memory, "phase" | "backoff">, now: number): number | undefined =>
  phase === "Restarting" && backoff !== undefined && backoff.until > now ? backoff.until : undefined;

/** A reason and a message for people, as a status or an Event shows them. */
export type ReasonMessage = { readonly reason: string; readonly message: string };

/** The quota of a job that Kueue admits, as a step has read it: see quota.ts. */
export type Quota = {
  readonly queue: string;
  /** The Workload that the job owns. */
  readonly workload: Stored | undefined;
  readonly standing: WorkloadState;
  /** Additions to the pods of each task; empty unless pods may be created. */
  readonly placements: ReadonlyMap<string, Placement>;
  /** A flavor or a priority class that cannot be read: nothing is created without it. */
  readonly lacks?: string;
  /** The fields by which Kueue ranks the Workload that is to be created. */
  readonly rank?: Json;
};

export type JobContext = {
  readonly key: Key;
  readonly view: View<Memory>;
  readonly object: Stored;
  /** With its defaults, and the names of its claims. */
  readonly spec: JobSpec;
  readonly memory: Memory;
  readonly members: readonly Member[];
  /** Pods of ordinals that are done already; a step deletes them. */
  readonly again: readonly Member[];
  /** The PodGroup that the job owns. */
  readonly group: Stored | undefined;
  /** Values of the priority classes that the job names; empty unless a task names one. */
  readonly priorities: Priorities;
  /** Commands for the job, the oldest first, including commands that were taken already. */
  readonly orders: readonly Order[];
  /** The policies that the job's annotations ask for. */
  readonly annotationPolicies: AnnotationPolicies;
  /** Annotations that cannot be read and unknown plugin flags; both are ignored. */
  readonly problems: readonly ReasonMessage[];
  /** The job's quota; absent: Kueue does not admit it. */
  readonly quota?: Quota;
};

/** True while Kueue admits the job, and has not. */
export const isUnadmitted = ({ quota }: Pick<JobContext, "quota">): boolean =>
  quota !== undefined && quota.standing.is !== "admitted";

/**
 * True while the job must not have its group and its pods: it is suspended, waits before a restart, or is not admitted
 * by Kueue.
 */
export const isHeld = (context: Pick<JobContext, "annotationPolicies" | "memory" | "view" | "quota">): boolean =>
  context.annotationPolicies.suspend === "true" ||
  heldUntil(context.memory, context.view.now) !== undefined ||
  isUnadmitted(context);

export const ownerOf = ({ object, key }: Pick<JobContext, "object" | "key">): Owner => ({
  name: object.metadata.name,
  namespace: key.namespace,
  uid: object.metadata.uid,
});

export const podInputOf = (context: JobContext): PodInput => {
  const { object, spec, memory, group, quota } = context;
  const { labels = {}, annotations = {} } = object.metadata;
  const placer = group?.metadata.annotations?.[scheduledByKey];
  const topology = group === undefined ? undefined : topologyOf(group);
  return {
    owner: ownerOf(context),
    spec,
    labels,
    annotations,
    version: memory.version,
    retryCount: memory.retryCount,
    forwarding: memory.forwarding,
    ...(group === undefined ? {} : { group: group.metadata.name }),
    ...(placer === undefined ? {} : { placer }),
    ...(planIn(context) === undefined ? {} : { nodesOf: plannedNodes(context) }),
    ...(topology === undefined || group?.metadata.uid === memory.retired ? {} : { topology }),
    ...(isNative(group) && group?.metadata.uid !== memory.retired ? { isNative: true } : {}),
    ...(quota === undefined ? {} : { placements: quota.placements }),
  };
};

/** Returns the plan of the job's group, while it stands. */
export const planIn = ({ group, memory }: Pick<JobContext, "group" | "memory">): GangPlan | undefined =>
  group === undefined || group.metadata.uid === memory.retired ? undefined : planOf(group);

/** Returns the mark of the job's group, if pods of it are evicted for another group. */
export const evictionIn = ({ group, memory }: Pick<JobContext, "group" | "memory">): Evicted | undefined =>
  group === undefined || group.metadata.uid === memory.retired ? undefined : evictedOf(group);

/** Makes the function that returns the planned nodes of a task's first pods; it reads the plan once per task. */
export const plannedNodes = (context: Pick<JobContext, "group" | "memory">): ((task: string) => readonly string[]) => {
  const plan = planIn(context);
  const known = new Map<string, readonly string[]>();
  return (task) => {
    const nodes = known.get(task) ?? (plan === undefined ? [] : nodesOf(plan, task));
    known.set(task, nodes);
    return nodes;
  };
};

/** Lists every pod with the job's name label; the owner references tell which of them belong to the job. */
export const podsOf = (key: Key): Looking => ({
  do: "list",
  resource: pods,
  namespace: key.namespace,
  labels: { [keys.jobName]: key.name },
});

type Getting = Extract<Looking, { do: "get" }>;

export const got = (key: Key, resource: Resource, name: string): Getting => ({
  do: "get",
  ref: { resource, namespace: key.namespace, name },
});

const groupNamed = ({ namespace }: Key, name: string): Getting => ({
  do: "get",
  ref: { resource: podGroups, namespace, name },
});

/** Reads of the job's group: by its current name, and by the job's own name, as earlier upstream versions named it. */
export const groupsOf = (key: Key, uid: string): readonly Looking[] => [
  groupNamed(key, groupName({ name: key.name, uid })),
  groupNamed(key, key.name),
];

/** Lists the job's group by its name: the second read of a group that the first one did not find. */
export const groupAgain = ({ key, view }: Pick<JobContext, "key" | "view">): Looking => ({
  do: "list",
  resource: podGroups,
  namespace: key.namespace,
  labels: {},
  field: `metadata.name=${groupName({ name: key.name, uid: view.uid })}`,
});

/** Deletes the object by its UID alone, in whatever state it is. */
export const removal = (resource: Resource, object: Stored): Effect => ({
  do: "delete",
  ref: refTo(resource, object),
  uid: object.metadata.uid,
});

/** True for a pod of a task that the spec does not have, or of an ordinal beyond the task's replicas. */
export const isExcess = ({ spec }: Pick<JobContext, "spec">, { task, index }: Member): boolean => {
  const one = tasksOf(spec).find((each) => nameOf(each) === task);
  return one === undefined || index >= replicasOf(one);
};

/** True in phases that keep the pods as the spec says; in other phases a finished pod stays as it is. */
export const isKept = ({ memory }: Pick<JobContext, "memory">): boolean =>
  moveFor(memory.phase, "SyncJob").pods === "sync";

const countedIn = (context: Pick<JobContext, "memory" | "spec">, member: Member): Counting => {
  const counting = countingOf(member, context.memory);
  return isKept(context) && isExcess(context, member) ? { ...counting, terminating: true } : counting;
};

/**
 * Counts the pods for the phase rules and the status. A pod to be ended counts as terminating; so does an excess pod in
 * phases that delete it. `created`: further pods.
 */
export const podCounts = (
  context: Pick<JobContext, "members" | "memory" | "spec">,
  created: readonly Counting[] = [],
): Tally =>
  tallyOf(
    [...removedIn(context), ...context.members.map((member) => countedIn(context, member)), ...created],
    context.spec.minAvailable ?? 0,
  );

/** Pods that are to be ended and whose deletion is not requested yet. */
export const stillToDelete = ({ members, memory }: Pick<JobContext, "members" | "memory">): readonly Member[] =>
  members.filter((member) => !member.ending && isOver(member, memory));
