/** The kinds that are served: the built-in ones as a table, custom ones from the CustomResourceDefinitions stored. */
import type { Fields } from "./json.ts";

export type Column = {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
};

export type Custom = {
  readonly schema: Fields | undefined;
  readonly columns: readonly Column[];
  readonly storageVersion: string;
};

export type Kind = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** `plural.group`: versions of a kind share it. */
  readonly table: string;
  readonly status: boolean;
  /** Whether metadata.generation counts the changes of the spec. */
  readonly generation: boolean;
  /** Whether a PUT or PATCH may come without a resourceVersion. */
  readonly unconditional: boolean;
  /** Whether a PUT creates an object that does not exist. */
  readonly createdByPut: boolean;
  /** Whether DELETE answers with the object rather than with a Status. */
  readonly returnsDeleted: boolean;
  readonly custom: Custom | undefined;
};

type Row = readonly [group: string, version: string, plural: string, kind: string, extra?: Partial<Kind>];

const cluster = { namespaced: false } as const;
const counted = { generation: true, status: true } as const;
const rbac = "rbac.authorization.k8s.io";

const rows: readonly Row[] = [
  ["", "v1", "namespaces", "Namespace", { ...cluster, status: true, shortNames: ["ns"] }],
  ["", "v1", "nodes", "Node", { ...cluster, status: true, shortNames: ["no"] }],
  ["", "v1", "pods", "Pod", { ...counted, returnsDeleted: true, shortNames: ["po"], categories: ["all"] }],
  [
    "",
    "v1",
    "services",
    "Service",
    { createdByPut: true, status: true, returnsDeleted: true, shortNames: ["svc"], categories: ["all"] },
  ],
  ["", "v1", "configmaps", "ConfigMap", { shortNames: ["cm"] }],
  ["", "v1", "secrets", "Secret", {}],
  ["", "v1", "events", "Event", { shortNames: ["ev"], createdByPut: true }],
  ["", "v1", "serviceaccounts", "ServiceAccount", { returnsDeleted: true, shortNames: ["sa"] }],
  [
    "",
    "v1",
    "persistentvolumeclaims",
    "PersistentVolumeClaim",
    { status: true, returnsDeleted: true, shortNames: ["pvc"] },
  ],
  [
    "",
    "v1",
    "persistentvolumes",
    "PersistentVolume",
    { ...cluster, status: true, returnsDeleted: true, shortNames: ["pv"] },
  ],
  ["", "v1", "resourcequotas", "ResourceQuota", { status: true, returnsDeleted: true, shortNames: ["quota"] }],
  ["", "v1", "limitranges", "LimitRange", { shortNames: ["limits"] }],
  [
    "",
    "v1",
    "replicationcontrollers",
    "ReplicationController",
    { ...counted, shortNames: ["rc"], categories: ["all"] },
  ],
  ["", "v1", "endpoints", "Endpoints", { shortNames: ["ep"], createdByPut: true }],
  ["apps", "v1", "deployments", "Deployment", { ...counted, shortNames: ["deploy"], categories: ["all"] }],
  ["apps", "v1", "replicasets", "ReplicaSet", { ...counted, shortNames: ["rs"], categories: ["all"] }],
  ["apps", "v1", "statefulsets", "StatefulSet", { ...counted, shortNames: ["sts"], categories: ["all"] }],
  ["apps", "v1", "daemonsets", "DaemonSet", { ...counted, shortNames: ["ds"], categories: ["all"] }],
  ["batch", "v1", "jobs", "Job", { ...counted, categories: ["all"] }],
  ["batch", "v1", "cronjobs", "CronJob", { ...counted, shortNames: ["cj"], categories: ["all"] }],
  [
    "autoscaling",
    "v2",
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    { status: true, shortNames: ["hpa"], categories: ["all"] },
  ],
  ["policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", { ...counted, shortNames: ["pdb"] }],
  ["networking.k8s.io", "v1", "ingresses", "Ingress", { ...counted, shortNames: ["ing"] }],
  ["networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", { generation: true, shortNames: ["netpol"] }],
  ["coordination.k8s.io", "v1", "leases", "Lease", { unconditional: false, createdByPut: true }],
  ["scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", { ...cluster, generation: true, shortNames: ["pc"] }],
  [rbac, "v1", "roles", "Role", { createdByPut: true }],
  [rbac, "v1", "rolebindings", "RoleBinding", { createdByPut: true }],
  [rbac, "v1", "clusterroles", "ClusterRole", { ...cluster, createdByPut: true }],
  [rbac, "v1", "clusterrolebindings", "ClusterRoleBinding", { ...cluster, createdByPut: true }],
  [
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    { ...cluster, generation: true },
  ],
  [
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    { ...cluster, generation: true },
  ],
  [
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    { ...cluster, ...counted, unconditional: false, shortNames: ["crd", "crds"], categories: ["api-extensions"] },
  ],
];

export const tableOf = (plural: string, group: string): string => (group === "" ? plural : `${plural}.${group}`);

const kindOf = ([group, version, plural, kind, extra]: Row): Kind => ({
  group,
  version,
  plural,
  singular: kind.toLowerCase(),
  kind,
  listKind: `${kind}List`,
  shortNames: [],
  categories: [],
  namespaced: true,
  table: tableOf(plural, group),
  status: false,
  generation: false,
  unconditional: true,
  createdByPut: false,
  returnsDeleted: false,
  custom: undefined,
  ...extra,
});

export const builtIn: readonly Kind[] = rows.map(kindOf);

const byPath: ReadonlyMap<string, Kind> = new Map(
  builtIn.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind]),
);
const byTable: ReadonlyMap<string, Kind> = new Map(builtIn.map((kind) => [kind.table, kind]));

/** The built-in kind served at `group/version/plural`. */
export const builtInAt = (group: string, version: string, plural: string): Kind | undefined =>
  byPath.get(`${group}/${version}/${plural}`);

export const builtInOf = (table: string): Kind | undefined => byTable.get(table);

export const apiVersionOf = (kind: { readonly group: string; readonly version: string }): string =>
  kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
