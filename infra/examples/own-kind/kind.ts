/** PodSet, a kind of your own: keeps `replicas` pods of a template running, and shows how many are ready. */
import { type Decision, type Effect, list, type Operator, type Stored, type View } from "rekindle/engine";

export const podSets = { group: "example.com", version: "v1", plural: "podsets", kind: "PodSet" };
const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" };
const label = "example.com/pod-set";

/** Empty: the pods show everything. State that no read shows belongs here; it is saved before anything is done. */
type Memory = Record<never, never>;

type Spec = { replicas: number; template: object };
const specOf = ({ spec }: Stored) => spec as Spec;
const phaseOf = ({ status }: Stored) => (status as { phase?: string } | undefined)?.phase;
const isOver = (pod: Stored) => ["Failed", "Succeeded"].includes(phaseOf(pod) ?? "");
const isEnding = ({ metadata }: Stored) => metadata.deletionTimestamp !== undefined;

const creation = ({ metadata: { name: set, namespace = "", uid }, ...rest }: Stored, name: string): Effect => {
  const owner = { apiVersion: "example.com/v1", kind: "PodSet", name: set, uid, controller: true };
  const metadata = { name, namespace, labels: { [label]: set }, ownerReferences: [owner] };
  const object = { apiVersion: "v1", kind: "Pod", metadata, spec: (rest.spec as Spec).template };
  return { do: "create", object, resource: pods, owner: uid };
};

const deletion = ({ metadata: { name, namespace = "", uid, resourceVersion } }: Stored): Effect => ({
  ...{ do: "delete", ref: { resource: pods, namespace, name }, uid, resourceVersion },
});

function* decide(key: { namespace: string; name: string }, { object, uid }: View<Memory>): Decision<Memory> {
  if (object === undefined) return { memory: {}, stages: [], next: { do: "forget" } };
  const { namespace, name } = key;
  const found = yield* list({ do: "list", resource: pods, namespace, labels: { [label]: name } });
  const owned = found.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  const names = Array.from({ length: specOf(object).replicas }, (_, index) => `${name}-${index}`);
  const missing = names.filter((wanted) => !found.some(({ metadata }) => metadata.name === wanted));
  const surplus = owned.filter((pod) => !isEnding(pod) && (isOver(pod) || !names.includes(pod.metadata.name)));
  return {
    memory: {},
    stages: [[...missing.map((wanted) => creation(object, wanted)), ...surplus.map(deletion)]],
    status: { ready: owned.filter((pod) => phaseOf(pod) === "Running" && !isEnding(pod)).length },
    next: { do: "wait" },
  };
}

export const podSet: Operator<Memory> = {
  kind: "PodSet",
  resource: podSets,
  watches: [
    { resource: podSets, ownerName: ({ metadata }) => metadata.name, matters: () => true },
    { resource: pods, selector: label, ownerName: ({ metadata }) => metadata.labels?.[label], matters: () => true },
  ],
  parse: () => ({ ok: true, memory: {} }),
  decide,
};

const anyObject = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const properties = { replicas: { type: "integer" }, template: anyObject };
const spec = { type: "object", required: ["replicas", "template"], properties };
const status = { type: "object", properties: { ready: { type: "integer" } } };
const version = { name: "v1", served: true, storage: true, subresources: { status: {} } };

export const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "podsets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "podsets", singular: "podset", kind: "PodSet", listKind: "PodSetList" },
    versions: [{ ...version, schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } } }],
  },
};
