/**
 * The nodes of executors whose quota is of other flavors than the base's. Kueue's integration writes the base's nodes into
 * the application's spec; an executor of another flavor gets the node labels and tolerations of that one instead.
 */
import { fieldsOf, omit, recordsIn, same } from "../../../core/json.ts";
import type { Obj, Stored } from "../../../core/object.ts";
import { type Placement, withPlacement } from "../../../kube/kueue-placement.ts";
import { podSpecIn } from "../../../kube/pods.ts";
import type { Json } from "../../../kube/responses.ts";
import { flavorsKey, podSet } from "../../executors/flavors.ts";
import type { ApplicationContext } from "../run/context.ts";

/** Node labels and tolerations that Kueue has written into the spec for the executors of the base. */
type BaseNodes = { readonly nodeSelector: Json; readonly tolerations: readonly unknown[] };

/** The nodes of these flavors, which take the place of the base's. */
export type FlavorPlacement = { readonly flavors: string; readonly nodes: Placement; readonly base: BaseNodes };

/** Compares the spec with the application's own Workload, whose pod sets Kueue made before it wrote into the spec. */
export const baseNodesIn = ({ read }: ApplicationContext, own: Stored): BaseNodes => {
  if (!read.ok) return { nodeSelector: {}, tolerations: [] };
  const { nodeSelector, executor } = read.spec;
  const sets = recordsIn(fieldsOf(own.spec)["podSets"]);
  const template = sets.find(({ name }) => name === podSet)?.["template"];
  const { nodeSelector: labels, tolerations } = podSpecIn(template);
  const before = fieldsOf(labels);
  const added = Object.entries({ ...nodeSelector, ...executor.nodeSelector }).filter(
    ([key, value]) => before[key] !== value,
  );
  const tolerated = recordsIn(tolerations);
  return {
    nodeSelector: Object.fromEntries(added),
    tolerations: (executor.tolerations ?? []).filter((one) => !tolerated.some((other) => same(one, other))),
  };
};

/** Returns the spec of a pod without the nodes of the base. */
export const withoutNodes = (spec: Json, { nodeSelector, tolerations }: BaseNodes): Json => {
  const kept = Object.entries(fieldsOf(spec["nodeSelector"])).filter(([key, value]) => nodeSelector[key] !== value);
  const tolerated = recordsIn(spec["tolerations"]).filter((one) => !tolerations.some((other) => same(one, other)));
  return {
    ...omit(spec, "nodeSelector", "tolerations"),
    ...(kept.length === 0 ? {} : { nodeSelector: Object.fromEntries(kept) }),
    ...(tolerated.length === 0 ? {} : { tolerations: tolerated }),
  };
};

/** Returns the executor's pod for nodes of these flavors; of the base's without `placement`. Only Rekindle names flavors. */
export const onNodesOf = (pod: Obj, placement: FlavorPlacement | undefined): Obj => {
  const { annotations = {}, ...rest } = pod.metadata;
  const own = omit(annotations, flavorsKey);
  if (placement === undefined)
    return flavorsKey in annotations ? { ...pod, metadata: { ...rest, annotations: own } } : pod;
  const { flavors, nodes, base } = placement;
  const { nodeSelector, tolerations } = nodes;
  const spec = withoutNodes(podSpecIn(pod), base);
  const annotated = { ...rest, annotations: { ...own, [flavorsKey]: flavors } };
  const placed = { labels: {}, annotations: {}, nodeSelector, tolerations, gates: [] };
  return { ...pod, ...withPlacement({ metadata: annotated, spec }, placed) };
};
