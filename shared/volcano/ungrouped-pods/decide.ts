/** Pods of Volcano's scheduler without a group: a step creates the group and writes its name into the pod. Pure. */

import { type Decision, getIfAllowed } from "../../core/decision.ts";
import { fieldsOf, isRecord } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import {
  apiVersionOf,
  type Obj,
  type OwnerReference,
  type Ref,
  type Resource,
  type Stored,
} from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Plan, View } from "../../core/plan.ts";
import { queueNameKey } from "../../kube/gang-members.ts";
import { multiply, usageOf } from "../../kube/pod-usage.ts";
import { isEnding } from "../../kube/pods.ts";
import { quantityText } from "../../kube/quantity.ts";
import { pods, statefulSets } from "../../kube/resources.ts";
import { isStored, type Json } from "../../kube/responses.ts";
import { volcanoScheduler } from "../pods/names.ts";
import { keys, podGroups } from "../schema/resource.ts";
import { isGrouped, podWatcher } from "./watches.ts";

type Texts = Readonly<Record<string, string>>;

const minMemberKey = "scheduling.volcano.sh/group-min-member";
const topologyModeKey = "volcano.sh/network-topology-mode";
const topologyTierKey = "volcano.sh/network-topology-highest-tier";

/** Prefix of the annotations and labels that concern the whole group. */
const prefix = "volcano.sh/";

const inherited = (texts: Texts = {}): Texts =>
  Object.fromEntries(Object.entries(texts).filter(([name]) => name.startsWith(prefix)));

/** Returns the pod's controller; undefined if it has none. */
export const controllerOf = ({ metadata }: Obj): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

/** Returns the name of the pod's group. Pods of one controller share a group. */
export const bareGroupName = (pod: Stored): string => `podgroup-${controllerOf(pod)?.uid ?? pod.metadata.uid}`;

const ownersOf = ({ metadata }: Stored, controller: OwnerReference | undefined): readonly OwnerReference[] => {
  if (controller !== undefined) return metadata.ownerReferences ?? [];
  const { name, uid } = metadata;
  return [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true, blockOwnerDeletion: true }];
};

const minMemberOf = (annotations: Texts): number => {
  const text = annotations[minMemberKey] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 1;
};

const topologyOf = (annotations: Texts): Json => {
  const { [topologyModeKey]: mode, [topologyTierKey]: tier } = annotations;
  if (mode === undefined && tier === undefined) return {};
  const known = ["hard", "soft"].find((one) => one === mode?.toLowerCase()) ?? "hard";
  const highest = /^-?\d{1,9}$/.test(tier ?? "") ? { highestTierAllowed: Number(tier) } : {};
  return { networkTopology: { mode: known, ...highest } };
};

const resourcesOf = (spec: Json, count: number): Texts =>
  Object.fromEntries([...multiply(usageOf(spec), count)].map(([name, amount]) => [name, quantityText(amount)]));

/** `upper`: annotations of the controller. */
export const bareGroup = (pod: Stored, upper: Texts = {}): Obj => {
  const { annotations = {}, labels, namespace = "" } = pod.metadata;
  const spec = fieldsOf(pod.spec);
  const minMember = minMemberOf(upper);
  const { [queueNameKey]: queue } = annotations;
  const { priorityClassName } = spec;
  return {
    apiVersion: apiVersionOf(podGroups),
    kind: podGroups.kind,
    metadata: {
      name: bareGroupName(pod),
      namespace,
      ownerReferences: ownersOf(pod, controllerOf(pod)),
      annotations: { ...inherited(upper), ...inherited(annotations) },
      labels: inherited(labels),
    },
    spec: {
      minMember,
      minResources: resourcesOf(spec, minMember),
      ...(queue === undefined ? {} : { queue }),
      ...(typeof priorityClassName === "string" && priorityClassName !== "" ? { priorityClassName } : {}),
      ...topologyOf(annotations),
    },
    status: { phase: "Pending" },
  };
};

/** Empty: the pod itself shows that it has no group. */
type Nothing = Readonly<Record<string, never>>;

const done: Plan<Nothing> = { memory: {}, stages: [], next: { do: "forget" } };

const isForVolcano = (pod: Stored): boolean => isRecord(pod.spec) && pod.spec["schedulerName"] === volcanoScheduler;

const kindsAbove: Readonly<Record<string, Resource>> = {
  ReplicaSet: { group: "apps", version: "v1", plural: "replicasets", kind: "ReplicaSet" },
  StatefulSet: statefulSets,
  DaemonSet: { group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet" },
  Job: { group: "batch", version: "v1", plural: "jobs", kind: "Job" },
};

/**
 * Returns the pod's controller, whose annotations describe the group. One of another kind, or one that may not be read,
 * adds nothing.
 */
const aboveOf = (pod: Stored, { namespace }: Key): Ref | undefined => {
  const controller = controllerOf(pod);
  const resource = controller === undefined ? undefined : kindsAbove[controller.kind];
  if (controller === undefined || resource === undefined) return undefined;
  if (controller.apiVersion.split("/")[0] !== resource.group) return undefined;
  return { resource, namespace, name: controller.name };
};

const grouping = (pod: Stored, upper: Readonly<Record<string, string>>): Plan<Nothing> => {
  const { name, namespace = "", uid, resourceVersion } = pod.metadata;
  const object = bareGroup(pod, upper);
  const patch = { metadata: { annotations: { [keys.group]: bareGroupName(pod) } } };
  return {
    ...done,
    stages: [
      [{ do: "create", object, resource: podGroups, owner: controllerOf(pod)?.uid ?? uid, shared: true }],
      [{ do: "patch", ref: { resource: pods, namespace, name }, uid, resourceVersion, patch }],
    ],
  };
};

export function* decide(key: Key, { object }: View<Nothing>): Decision<Nothing> {
  if (object === undefined || isEnding(object) || isGrouped(object.metadata) || !isForVolcano(object)) return done;
  const controller = aboveOf(object, key);
  if (controller === undefined) return grouping(object, {});
  const answer = yield* getIfAllowed(controller);
  return grouping(object, answer.heard && isStored(answer.value) ? (answer.value.metadata.annotations ?? {}) : {});
}

export const volcanoPod: Operator<Nothing> = { ...podWatcher, parse: () => ({ ok: true, memory: {} }), decide };
