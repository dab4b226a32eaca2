/** The parts of pods and nodes that an admission round reads: tenants write pods, so each part is bounded. */
import { fieldsOf, recordsIn } from "../../core/json.ts";
import type { Metadata, Stored } from "../../core/object.ts";
import type { Projection } from "../../core/plan.ts";
import { pinned, pinOf } from "../../kube/nodes.ts";
import { antiAffinityIn, isBetweenNodes } from "../../kube/pod-anti-affinity.ts";
import { requestsOf } from "../../kube/pod-usage.ts";
import { quantityText } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";
import { only } from "../../kube/trim.ts";
import { keys } from "../schema/resource.ts";
import { containersIn } from "../schema/spec.ts";
import { portsOutline } from "./needs.ts";
import { marked, metadataOf, refusalIn, required } from "./outlines.ts";

/** The most amounts in the requests and limits of a pod that are read. */
const mostAmounts = 1_000;
/** The most characters of the labels of a pod, and of its anti-affinity; more of them keep no pod off its node. */
const mostLabels = 2_048;
const mostTerms = 4_096;
/** The most host ports of a pod that are read. */
const mostPorts = 100;

/** The number of amounts in the requests and limits of a pod's containers. */
const amountsOf = (spec: Json): number =>
  [spec, ...containersIn(spec), ...containersIn(spec, "initContainers")]
    .flatMap(({ resources }) => Object.values(fieldsOf(resources)))
    .reduce<number>((sum, amounts) => sum + Object.keys(fieldsOf(amounts)).length, 0);

/** The requests of a pod as texts. No node accepts a pod with so many resources, so such a pod takes no room. */
const requestsIn = (spec: Json): Json => {
  if (amountsOf(spec) > mostAmounts) return {};
  const requests = [...requestsOf(spec)].filter(([name, { nano }]) => name !== "pods" && nano !== 0n);
  return Object.fromEntries(requests.map(([name, amount]) => [name, quantityText(amount)]));
};

/** Keeps the labels of a pod, and its anti-affinity between nodes, by which other pods are kept off its node. */
const labelsIn = ({ metadata: { labels = {} } }: Stored): Pick<Metadata, "labels"> =>
  Object.keys(labels).length === 0 || JSON.stringify(labels).length > mostLabels ? {} : { labels };

const affinityIn = (spec: Json, pin: string | undefined): Json => {
  const own = antiAffinityIn(spec).filter(isBetweenNodes);
  const isKept = own.length > 0 && JSON.stringify(own).length <= mostTerms;
  const apart = isKept ? { podAntiAffinity: { [required]: own } } : {};
  const placed = pin === undefined ? {} : fieldsOf(pinned({}, pin)["affinity"]);
  const affinity = { ...placed, ...apart };
  return Object.keys(affinity).length === 0 ? {} : { affinity };
};

/** Keeps the controller of a pod, which tells whether it would be made again. */
const controllerIn = ({ metadata }: Stored): Json => {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  return controller === undefined ? {} : { ownerReferences: [controller] };
};

/** Keeps when the pod got its node, which tells the pod that has taken a place, and when it was up. */
const boundIn = (status: Json): Json => {
  const kept = recordsIn(status["conditions"]).filter(({ type }) => type === "PodScheduled" || type === "Ready");
  const known = only(status, ["phase", "nominatedNodeName", "startTime"]);
  return kept.length === 0
    ? known
    : { ...known, conditions: kept.map((one) => only(one, ["type", "status", "lastTransitionTime"])) };
};

/** True for a pod that no other pod may displace. */
export const isCritical = ({ priorityClassName }: Json): boolean =>
  priorityClassName === "system-cluster-critical" || priorityClassName === "system-node-critical";

/** The requests of a pod that has no place yet, of the resources that count for its queue. */
const statedIn = (spec: Json, stated: ReadonlySet<string>): Json => {
  const requests = stated.size === 0 ? {} : only(requestsIn(spec), [...stated]);
  return Object.keys(requests).length === 0 ? {} : { resources: { requests } };
};

/**
 * Keeps the node, the task and the needs of pods that have a node or a pin; of others of a group that they exist, and what
 * they request of the resources that queues state.
 */
export const podOutlines =
  (stated: ReadonlySet<string>): Projection =>
  (pod) => {
    const spec = fieldsOf(pod.spec);
    const status = fieldsOf(pod.status);
    const pin = pinOf(spec);
    const takesRoom = spec["nodeName"] !== undefined || status["nominatedNodeName"] !== undefined || pin !== undefined;
    if (!takesRoom && pod.metadata.annotations?.[keys.group] === undefined) return undefined;
    const needs = takesRoom
      ? { resources: { requests: requestsIn(spec) }, ...portsOutline(spec, mostPorts) }
      : statedIn(spec, stated);
    return {
      ...{ apiVersion: pod.apiVersion, kind: pod.kind },
      metadata: {
        ...marked(metadataOf(pod, [keys.group, keys.taskSpec]), refusalIn(pod)),
        ...labelsIn(pod),
        ...controllerIn(pod),
      },
      spec: {
        ...only(spec, isCritical(spec) ? ["nodeName", "priorityClassName"] : ["nodeName"]),
        ...(takesRoom ? affinityIn(spec, pin) : {}),
        ...needs,
      },
      status: boundIn(status),
    };
  };

/** Keeps of a pod what plans read. */
export const podOutline: Projection = podOutlines(new Set());

/** Keeps the room of a node and what its scheduling depends on. */
export const nodeOutline: Projection = (node) => ({
  ...{ apiVersion: node.apiVersion, kind: node.kind },
  metadata: { ...metadataOf(node, []), labels: node.metadata.labels ?? {} },
  spec: only(fieldsOf(node.spec), ["taints", "unschedulable"]),
  status: only(fieldsOf(node.status), ["allocatable"]),
});
