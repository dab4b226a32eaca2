/**
 * Required pod anti-affinity between pods of one node, as kube-scheduler's InterPodAffinity: it keeps a pod off a node with a
 * pod that its terms select, and off a node with a pod whose terms select it.
 */
import { fieldsOf, isRecord, recordsIn } from "../core/json.ts";
import { textsIn } from "./nodes.ts";
import type { Json } from "./responses.ts";
import { type Expression, type Labels, meetsExpression } from "./selector.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";

/** The topology key of which each node is a domain of its own. */
const ofNode = "kubernetes.io/hostname";

/** Returns the required terms of a pod's spec, as they are written. */
export const antiAffinityIn = (spec: Json): readonly Json[] =>
  recordsIn(fieldsOf(fieldsOf(spec["affinity"])["podAntiAffinity"])[required]);

const isAbsent = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

/** True if all of the term is read here: it is about nodes, and no label of a namespace or of the pod itself decides. */
export const isBetweenNodes = (term: Json): boolean =>
  term["topologyKey"] === ofNode &&
  ["namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"].every((field) => isAbsent(term[field]));

const operators = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

/** Returns the requirements of a label selector. */
export const requirementsOf = (selector: Json): readonly Expression[] => [
  ...Object.entries(fieldsOf(selector["matchLabels"])).map(
    ([key, value]): Expression => ({ key, operator: "In", values: [String(value)] }),
  ),
  ...recordsIn(selector["matchExpressions"]).flatMap((one): readonly Expression[] => {
    const operator = operators.find((name) => name === one["operator"]);
    return operator === undefined ? [] : [{ key: String(one["key"]), operator, values: textsIn(one["values"]) }];
  }),
];

type Term = { readonly namespaces: readonly string[]; readonly requirements: readonly Expression[] };

/** The parts of a pod by which anti-affinity is decided. */
export type Neighbour = {
  readonly namespace: string;
  readonly labels: Labels;
  readonly terms: readonly Term[];
};

type Identified = Pick<Neighbour, "namespace" | "labels"> & { readonly spec: Json };

/** Reads a pod; terms that are not between nodes are left out, and so is one without a selector, which selects no pod. */
export const neighbourOf = ({ namespace, labels, spec }: Identified): Neighbour => ({
  namespace,
  labels,
  terms: antiAffinityIn(spec).flatMap((term): readonly Term[] => {
    const { labelSelector } = term;
    if (!isBetweenNodes(term) || !isRecord(labelSelector)) return [];
    const named = textsIn(term["namespaces"]);
    return [{ namespaces: named.length === 0 ? [namespace] : named, requirements: requirementsOf(labelSelector) }];
  }),
});

const rejects = ({ terms }: Neighbour, { namespace, labels }: Neighbour): boolean =>
  terms.some(
    ({ namespaces, requirements }) =>
      namespaces.includes(namespace) && requirements.every((requirement) => meetsExpression(requirement, labels)),
  );

/** True if the two pods may not be on one node. */
export const areApart = (one: Neighbour, other: Neighbour): boolean => rejects(one, other) || rejects(other, one);
