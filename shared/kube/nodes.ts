/**
 * The nodes that a pod's spec excludes, as kube-scheduler filters them: name, taints, cordon, node selector and
 * required node affinity; room is counted elsewhere. A pin is required node affinity for one node by its name, which
 * leaves the binding to the scheduler; an exclusion is required node affinity for all but some nodes.
 */
import type { V1Taint } from "@kubernetes/client-node";
import { fieldsOf, isRecord, recordsIn } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { typed, type Wire } from "./objects.ts";
import type { Json } from "./responses.ts";
import { type Expression, type Labels, meetsExpression } from "./selector.ts";

/** Returns why a node is excluded, as the predicate of a sentence about it: `has taint gpu`; undefined if it is not. */
export type NodeFilter = (node: Stored) => string | undefined;

export const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

type Taint = Wire<V1Taint>;

const blocking = ["NoSchedule", "NoExecute"];

/** A cordoned node counts as one with this taint. */
const cordon: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

// As Toleration.ToleratesTaint: an empty key needs Exists, an empty effect stands for all effects.
const tolerates = (toleration: Json, taint: Taint): boolean => {
  const [key, effect, operator] = [textOf(toleration["key"]), textOf(toleration["effect"]), toleration["operator"]];
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  const isEqual = operator === undefined || operator === "" || operator === "Equal";
  return isEqual && key !== "" && textOf(toleration["value"]) === (taint.value ?? "");
};

const operators = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

const integer = /^[+-]?\d{1,18}$/;

const compares = (operator: unknown, value: string | undefined, bound = ""): boolean => {
  if (value === undefined || !integer.test(value) || !integer.test(bound)) return false;
  if (operator === "Gt") return BigInt(value) > BigInt(bound);
  return operator === "Lt" && BigInt(value) < BigInt(bound);
};

const meets = (requirement: Json, labels: Labels): boolean => {
  const key = textOf(requirement["key"]);
  const values = textsIn(requirement["values"]);
  const operator = operators.find((one) => one === requirement["operator"]);
  if (operator === undefined)
    return compares(requirement["operator"], Object.hasOwn(labels, key) ? labels[key] : undefined, values[0]);
  const expression: Expression = { key, operator, values };
  return meetsExpression(expression, labels);
};

// As nodeaffinity.isEmptyNodeSelectorTerm: a term without a requirement matches no node.
const matches = (term: Json, { metadata }: Stored): boolean => {
  const [expressions, fields] = [recordsIn(term["matchExpressions"]), recordsIn(term["matchFields"])];
  return (
    expressions.length + fields.length > 0 &&
    expressions.every((one) => meets(one, metadata.labels ?? {})) &&
    fields.every((one) => meets(one, { "metadata.name": metadata.name }))
  );
};

/** Makes the filter of a pod's spec. */
export const nodeFilter = (spec: Json): NodeFilter => {
  const tolerations = recordsIn(spec["tolerations"]);
  const isTolerated = (taint: Taint): boolean => tolerations.some((one) => tolerates(one, taint));
  const selector = Object.entries(fieldsOf(spec["nodeSelector"]));
  const affinity = fieldsOf(fieldsOf(spec["affinity"])["nodeAffinity"]);
  const required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  const terms = isRecord(required) ? recordsIn(required["nodeSelectorTerms"]) : undefined;
  const nodeName = textOf(spec["nodeName"]);
  return (node) => {
    const { name, labels = {} } = node.metadata;
    const { unschedulable, taints = [] } = typed("Node", node).spec ?? {};
    if (nodeName !== "" && nodeName !== name) return "is not the node that it names";
    if (unschedulable === true && !isTolerated(cordon)) return "is cordoned";
    const taint = taints.find((one) => blocking.includes(one.effect) && !isTolerated(one));
    if (taint !== undefined) return `has taint ${taint.key}`;
    if (!selector.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value))
      return "is outside its node selector";
    return terms === undefined || terms.some((term) => matches(term, node))
      ? undefined
      : "is outside its node affinity";
  };
};

const required = "requiredDuringSchedulingIgnoredDuringExecution";

const isEmptyTerm = ({ matchExpressions, matchFields }: Json): boolean =>
  recordsIn(matchExpressions).length + recordsIn(matchFields).length === 0;

/**
 * Returns the spec of a pod that only this node may take: every required term of its node affinity names the node. A
 * term without a requirement matches no node, so it is left out. A pod that names its node needs no pin.
 */
export const pinned = (spec: Json, node: string): Json => {
  if (typeof spec["nodeName"] === "string" && spec["nodeName"] !== "") return spec;
  const affinity = fieldsOf(spec["affinity"]);
  const nodeAffinity = fieldsOf(affinity["nodeAffinity"]);
  const terms = recordsIn(fieldsOf(nodeAffinity[required])["nodeSelectorTerms"]).filter((term) => !isEmptyTerm(term));
  const pin: Json = { key: "metadata.name", operator: "In", values: [node] };
  const nodeSelectorTerms = (terms.length === 0 ? [{}] : terms).map((term: Json) => ({
    ...term,
    matchFields: [...recordsIn(term["matchFields"]), pin],
  }));
  return {
    ...spec,
    affinity: { ...affinity, nodeAffinity: { ...nodeAffinity, [required]: { nodeSelectorTerms } } },
  };
};

/**
 * Returns the spec of a pod that none of these nodes may take: every required term of its node affinity excludes them. A
 * spec whose terms match no node, or that names its node, stays as it is.
 */
export const excluding = (spec: Json, nodes: readonly string[]): Json => {
  if (nodes.length === 0 || (typeof spec["nodeName"] === "string" && spec["nodeName"] !== "")) return spec;
  const affinity = fieldsOf(spec["affinity"]);
  const nodeAffinity = fieldsOf(affinity["nodeAffinity"]);
  const own = nodeAffinity[required] ?? undefined;
  const terms = own === undefined ? [{}] : recordsIn(fieldsOf(own)["nodeSelectorTerms"]);
  const fields = nodes.map((node): Json => ({ key: "metadata.name", operator: "NotIn", values: [node] }));
  // A term without a requirement matches no node, and would match the others with this one.
  const nodeSelectorTerms = terms
    .filter((term) => own === undefined || !isEmptyTerm(term))
    .map((term: Json) => ({ ...term, matchFields: [...recordsIn(term["matchFields"]), ...fields] }));
  if (nodeSelectorTerms.length === 0) return spec;
  return {
    ...spec,
    affinity: { ...affinity, nodeAffinity: { ...nodeAffinity, [required]: { nodeSelectorTerms } } },
  };
};

/** Returns the node that a pod's spec is pinned to; undefined if some other node could take it. */
export const pinOf = (spec: Json): string | undefined => {
  const terms = recordsIn(
    fieldsOf(fieldsOf(fieldsOf(spec["affinity"])["nodeAffinity"])[required])["nodeSelectorTerms"],
  );
  const nodes = terms.map(({ matchFields }) => {
    const pin = recordsIn(matchFields).find(({ key, operator }) => key === "metadata.name" && operator === "In");
    const { values } = pin ?? {};
    return Array.isArray(values) && values.length === 1 && typeof values[0] === "string" ? values[0] : undefined;
  });
  const [node] = nodes;
  return nodes.every((one) => one === node) ? node : undefined;
};
