/**
 * Additions of Kueue's admission to the pods of a pod set: labels and tolerations of the flavors that it has assigned,
 * and what its admission checks ask for.
 */
import { all, getIfAllowed, type Reads } from "../core/decision.ts";
import { fieldsOf, isRecord, recordsIn, same } from "../core/json.ts";
import type { Metadata, Obj, Ref, Resource } from "../core/object.ts";
import { assignmentsIn, resourceFlavors } from "./kueue.ts";
import type { Json } from "./responses.ts";

/** The gate that Kueue takes off a pod when it has chosen the pod's place in a topology. */
const topologyGate = "kueue.x-k8s.io/topology";
const podSetLabel = "kueue.x-k8s.io/podset";
const workloadKey = "kueue.x-k8s.io/workload";
const anywhereKey = "kueue.x-k8s.io/podset-unconstrained-topology";

type Texts = Readonly<Record<string, string>>;

export type Placement = {
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly nodeSelector: Texts;
  readonly tolerations: readonly Json[];
  readonly gates: readonly Json[];
};

const textsIn = (value: unknown): Texts =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

const flavorsIn = (assignment: Json): readonly string[] => [...new Set(Object.values(textsIn(assignment["flavors"])))];

/** Returns the names of the flavors that Kueue has assigned: of all pod sets, or of one. */
export const flavorsOf = (workload: Obj, podSet?: string): readonly string[] => [
  ...new Set(
    assignmentsIn(workload)
      .filter(({ name }) => podSet === undefined || name === podSet)
      .flatMap(flavorsIn),
  ),
];

const without = (list: readonly Json[], others: readonly Json[]): readonly Json[] =>
  list.filter((one) => !others.some((other) => same(one, other)));

const merged = (placement: Placement, update: Json): Placement => ({
  labels: { ...placement.labels, ...textsIn(update["labels"]) },
  annotations: { ...placement.annotations, ...textsIn(update["annotations"]) },
  nodeSelector: { ...placement.nodeSelector, ...textsIn(update["nodeSelector"]) },
  tolerations: [...placement.tolerations, ...without(recordsIn(update["tolerations"]), placement.tolerations)],
  gates: placement.gates,
});

const updatesFor = (workload: Obj, name: unknown): readonly Json[] =>
  recordsIn(fieldsOf(workload.status)["admissionChecks"])
    .flatMap(({ podSetUpdates }) => recordsIn(podSetUpdates))
    .filter((update) => update["name"] === name);

const isConstrained = (workload: Obj, name: unknown): boolean => {
  const sets = recordsIn(fieldsOf(workload.spec)["podSets"]);
  const { required, preferred, unconstrained } = fieldsOf(
    sets.find((one) => one["name"] === name)?.["topologyRequest"],
  );
  return [required, preferred, unconstrained].some((one) => one !== undefined);
};

const placementOf = (workload: Obj, assignment: Json, flavors: ReadonlyMap<string, Json>): Placement => {
  const { name } = assignment;
  const inTopology = isRecord(assignment["topologyAssignment"]);
  const base: Placement = {
    labels: { [podSetLabel]: String(name) },
    annotations: {
      [workloadKey]: workload.metadata.name,
      ...(inTopology && !isConstrained(workload, name) ? { [anywhereKey]: "true" } : {}),
    },
    nodeSelector: {},
    tolerations: [],
    gates: inTopology ? [{ name: topologyGate }] : [],
  };
  const specs = flavorsIn(assignment).map((flavor) => fieldsOf(flavors.get(flavor)?.["spec"]));
  const ofFlavors = specs.map(({ nodeLabels, tolerations }): Json => ({ nodeSelector: nodeLabels, tolerations }));
  return [...ofFlavors, ...updatesFor(workload, name)].reduce(merged, base);
};

/** Returns what the pods of each pod set get, by its name. */
const placementsOf = (workload: Obj, flavors: ReadonlyMap<string, Json>): ReadonlyMap<string, Placement> =>
  new Map(
    assignmentsIn(workload).map((assignment) => [
      String(assignment["name"]),
      placementOf(workload, assignment, flavors),
    ]),
  );

type Read = { readonly object: Json } | { readonly lacks: string };

/** Reads an object without a namespace: a deployment for some namespaces may not be allowed to. */
export function* readShared(resource: Resource, name: string): Reads<Read> {
  const ref: Ref = { resource, name };
  const result = yield* getIfAllowed(ref);
  const what = `${resource.kind} ${name}`;
  if (!result.heard) return { lacks: `${what} cannot be read, grant get on ${resource.plural}.${resource.group}` };
  return isRecord(result.value) ? { object: result.value } : { lacks: `${what} is not found` };
}

/** `lacks`: a flavor that cannot be read. Nothing is created without it. */
type Placements = { readonly placements: ReadonlyMap<string, Placement>; readonly lacks?: string };

/** Reads the flavors that Kueue has assigned, and returns what the pods of each pod set get. */
export function* readPlacements(workload: Obj): Reads<Placements> {
  const names = flavorsOf(workload);
  const found = yield* all(names.map((name) => readShared(resourceFlavors, name)));
  const lacks = found.flatMap((one) => ("lacks" in one ? [one.lacks] : []))[0];
  if (lacks !== undefined) return { placements: new Map(), lacks };
  const flavors = found.map((one, at): [string, Json] => [names[at] ?? "", "object" in one ? one.object : {}]);
  return { placements: placementsOf(workload, new Map(flavors)) };
}

type Pod = { readonly metadata: Metadata; readonly spec: Json };

/** Returns the pod with what Kueue's admission adds to it; labels and annotations of the job's own keys stay. */
export const withPlacement = (pod: Pod, placement: Placement | undefined): Pod => {
  if (placement === undefined) return pod;
  const { metadata, spec } = pod;
  const [tolerations, gates] = [recordsIn(spec["tolerations"]), recordsIn(spec["schedulingGates"])];
  const nodeSelector = { ...textsIn(spec["nodeSelector"]), ...placement.nodeSelector };
  const list = (name: string, items: readonly Json[]): Json => (items.length === 0 ? {} : { [name]: items });
  return {
    metadata: {
      ...metadata,
      labels: { ...placement.labels, ...metadata.labels },
      annotations: { ...placement.annotations, ...metadata.annotations },
    },
    spec: {
      ...spec,
      ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
      ...list("tolerations", [...tolerations, ...without(placement.tolerations, tolerations)]),
      ...list("schedulingGates", [...gates, ...without(placement.gates, gates)]),
    },
  };
};
