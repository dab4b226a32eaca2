/**
 * The group of pods without a job: bare pods, and those of ReplicaSets and others. As upstream's podgroup controller.
 */
import { fieldsOf } from "../../core/json.ts";
import type { Obj, OwnerReference, Stored } from "../../core/object.ts";
import { apiVersionOf } from "../../core/object.ts";
import { quantityText } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";
import { podGroups } from "../schema/resource.ts";
import { multiplied, usageOf } from "./usage.ts";

type Texts = Readonly<Record<string, string>>;

const minMemberKey = "scheduling.volcano.sh/group-min-member";
const queueKey = "scheduling.volcano.sh/queue-name";
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
  Object.fromEntries([...multiplied(usageOf(spec), count)].map(([name, amount]) => [name, quantityText(amount)]));

/** `upper`: annotations of the controller. */
export const bareGroup = (pod: Stored, upper: Texts = {}): Obj => {
  const { annotations = {}, labels, namespace = "" } = pod.metadata;
  const spec = fieldsOf(pod["spec"]);
  const minMember = minMemberOf(upper);
  const { [queueKey]: queue } = annotations;
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
