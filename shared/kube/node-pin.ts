/** Pins of pods: required node affinity for one node by its name, which leaves the binding to the scheduler. */
import { fieldsOf, isRecord } from "../core/json.ts";
import type { Json } from "./responses.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";

const recordsIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);

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
