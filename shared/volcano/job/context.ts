/** What every act of a job's step works with. */
import type { Key } from "../../core/key.ts";
import type { Ref, Resource, Stored } from "../../core/object.ts";
import type { Effect, View } from "../../core/plan.ts";
import type { Looking } from "../../core/query.ts";
import { pods } from "../../kube/resources.ts";
import type { Order } from "../command/order.ts";
import { letIn } from "../gang/admit.ts";
import type { Priorities } from "../podgroup/group.ts";
import { groupName, type Owner } from "../pods/names.ts";
import type { Making } from "../pods/pod.ts";
import { keys, podGroups } from "../resource.ts";
import { type JobSpec, nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import type { AnnotationPolicies } from "./annotation-policies.ts";
import { heldUntil } from "./backoff.ts";
import { removedIn } from "./completed-pods.ts";
import { moveFor } from "./machine.ts";
import type { Memory } from "./memory.ts";
import { type Counting, type Tally, tallyOf } from "./pod-counts.ts";
import { countingOf, isOver, type Member } from "./pods.ts";

/** Why the job is where it is, where it has a word for it. */
export type Word = { readonly reason: string; readonly message: string };

export type JobContext = {
  readonly key: Key;
  readonly view: View<Memory>;
  readonly object: Stored;
  /** With its defaults, and the names of its claims. */
  readonly spec: JobSpec;
  readonly memory: Memory;
  readonly members: readonly Member[];
  /** Pods that are none of them: what they are for is done. */
  readonly again: readonly Member[];
  /** The group that the job stands in now. */
  readonly group: Stored | undefined;
  /** Values of the priority classes that its pods name, where they are to be put in order. */
  readonly priorities: Priorities;
  /** Commands for it, the oldest first, those that were taken already among them. */
  readonly orders: readonly Order[];
  /** What its annotations ask for. */
  readonly wishes: AnnotationPolicies;
  /** Annotations that cannot be read and flags of plugins that are unknown, which are passed over. */
  readonly problems: readonly Word[];
};

/** It is not to have its group and its pods yet, or no more. */
export const isHeld = ({ wishes, memory, view }: Pick<JobContext, "wishes" | "memory" | "view">): boolean =>
  wishes.suspend === "true" || heldUntil(memory, view.now) !== undefined;

export const ownerOf = ({ object, key }: Pick<JobContext, "object" | "key">): Owner => ({
  name: object.metadata.name,
  namespace: key.namespace,
  uid: object.metadata.uid,
});

export const makingOf = (scene: JobContext): Making => {
  const { object, spec, memory, group } = scene;
  const { labels = {}, annotations = {} } = object.metadata;
  const placer = group?.metadata.annotations?.[letIn];
  return {
    owner: ownerOf(scene),
    spec,
    labels,
    annotations,
    version: memory.version,
    retryCount: memory.retryCount,
    forwarding: memory.forwarding,
    ...(group === undefined ? {} : { group: group.metadata.name }),
    ...(placer === undefined ? {} : { placer }),
  };
};

/** Every pod that bears the job's name; whose it is, the owner references say. */
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
  known: true,
});

/** The job's group; jobs of earlier upstreams have one of their own name. */
export const groupsOf = (key: Key, uid: string): readonly Looking[] => [
  groupNamed(key, groupName({ name: key.name, uid })),
  groupNamed(key, key.name),
];

/** The second look for a group that one answer says is not there. */
export const groupAgain = ({ key, view }: Pick<JobContext, "key" | "view">): Looking => ({
  do: "list",
  resource: podGroups,
  namespace: key.namespace,
  labels: {},
  field: `metadata.name=${groupName({ name: key.name, uid: view.uid })}`,
});

export const refOf = (resource: Resource, object: Stored): Ref => {
  const { name, namespace } = object.metadata;
  return { resource, name, ...(namespace === undefined ? {} : { namespace }) };
};

/** Ends by right: whatever stands under this UID, and nothing else of that name. */
export const removal = (resource: Resource, object: Stored): Effect => ({
  do: "delete",
  ref: refOf(resource, object),
  uid: object.metadata.uid,
});

/** Of a task that the job has no more, or beyond the size of one that it has. */
export const isExcess = ({ spec }: Pick<JobContext, "spec">, { task, index }: Member): boolean => {
  const one = tasksOf(spec).find((each) => nameOf(each) === task);
  return one === undefined || index >= replicasOf(one);
};

/** Pods are kept as the spec says; in other phases, what has finished stays as it is. */
export const isKept = ({ memory }: Pick<JobContext, "memory">): boolean =>
  moveFor(memory.phase, "SyncJob").pods === "sync";

const countedIn = (scene: Pick<JobContext, "memory" | "spec">, member: Member): Counting => {
  const counting = countingOf(member, scene.memory);
  return isKept(scene) && isExcess(scene, member) ? { ...counting, terminating: true } : counting;
};

/** What the job is judged by: pods that are to go count as terminating, and those that are too many as long as they are ended. */
export const tallied = (scene: Pick<JobContext, "members" | "memory" | "spec">): Tally =>
  tallyOf(
    [...removedIn(scene), ...scene.members.map((member) => countedIn(scene, member))],
    scene.spec.minAvailable ?? 0,
  );

/** Pods to end that nobody has asked to end yet. */
export const overdue = ({ members, memory }: Pick<JobContext, "members" | "memory">): readonly Member[] =>
  members.filter((member) => !member.ending && isOver(member, memory));
