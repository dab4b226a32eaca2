/**
 * Kueue for tests: definitions of the kinds that Rekindle uses, with the limits of Kueue 0.17, and what Kueue's controller
 * writes into a Workload.
 */
import type { Obj } from "../../shared/core/object.ts";

const any = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const podSet = {
  ...{ type: "object", required: ["name", "count", "template"] },
  properties: {
    name: { type: "string", maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
    count: { type: "integer", minimum: 0 },
    minCount: { type: "integer", minimum: 1 },
    template: any,
    topologyRequest: any,
  },
};

const workload = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        podSets: { type: "array", minItems: 1, maxItems: 8, items: podSet },
        queueName: { type: "string" },
        active: { type: "boolean", default: true },
        priority: { type: "integer" },
        priorityClassRef: any,
        maximumExecutionTimeSeconds: { type: "integer", minimum: 1 },
      },
    },
    status: any,
  },
};

const definition = (plural: string, kind: string, scope: string, schema: object): Obj => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.kueue.x-k8s.io` },
  spec: {
    group: "kueue.x-k8s.io",
    scope,
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        ...{ name: "v1beta2", served: true, storage: true, schema: { openAPIV3Schema: schema } },
        ...(kind === "Workload" ? { subresources: { status: {} } } : {}),
      },
    ],
  },
});

/** The definitions of Workloads, flavors, priority classes and queues. */
export const kueueCrds: readonly Obj[] = [
  definition("workloads", "Workload", "Namespaced", workload),
  definition("resourceflavors", "ResourceFlavor", "Cluster", any),
  definition("workloadpriorityclasses", "WorkloadPriorityClass", "Cluster", any),
  definition("clusterqueues", "ClusterQueue", "Cluster", any),
];

/** A flavor of nodes with this label and a toleration. */
export const flavorOf = (name: string): Obj => ({
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "ResourceFlavor", metadata: { name } },
  spec: {
    nodeLabels: { "cloud.example/flavour": name },
    tolerations: [{ key: name, operator: "Exists", effect: "NoSchedule" }],
  },
});

type Fields = Readonly<Record<string, unknown>>;

const conditionsIn = (workload: Obj): readonly Fields[] => Object(workload["status"]).conditions ?? [];

/** Returns the conditions with these in them. */
const withConditions = (workload: Obj, changes: readonly Fields[], now: number): readonly Fields[] => {
  const lastTransitionTime = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const types = changes.map(({ type }) => type);
  return [
    ...conditionsIn(workload).filter(({ type }) => !types.includes(type)),
    ...changes.map((change) => ({ message: "", lastTransitionTime, ...change })),
  ];
};

/** Returns the status by which Kueue reserves quota for a Workload; `admits`: no admission check is open. */
export const reserved = (workload: Obj, flavor: string, now: number, admits: boolean): Fields => {
  const { podSets = [] } = Object(workload["spec"]);
  return {
    conditions: withConditions(
      workload,
      [
        { type: "QuotaReserved", status: "True", reason: "QuotaReserved" },
        ...(conditionsIn(workload).some(({ type }) => type === "Evicted")
          ? [{ type: "Evicted", status: "False", reason: "QuotaReserved" }]
          : []),
        ...(admits ? [{ type: "Admitted", status: "True", reason: "Admitted" }] : []),
      ],
      now,
    ),
    admission: {
      clusterQueue: "all",
      podSetAssignments: podSets.map(({ name, count }: Fields) => ({
        name,
        count,
        flavors: { cpu: flavor, memory: flavor },
      })),
    },
  };
};

/** The same with the least number of each pod set that may be admitted in part. */
export const reservedInPart = (workload: Obj, flavor: string, now: number): Fields => {
  const spec = Object(workload["spec"]);
  const podSets = (spec.podSets ?? []).map((set: Fields) => ({ ...set, count: set["minCount"] ?? set["count"] }));
  return reserved({ ...workload, spec: { ...spec, podSets } }, flavor, now, true);
};

/** Returns the status by which Kueue evicts a Workload. */
export const evicted = (workload: Obj, reason: string, now: number): Fields => ({
  conditions: withConditions(
    workload,
    [{ type: "Evicted", status: "True", reason, message: "Preempted to accommodate a workload" }],
    now,
  ),
});
