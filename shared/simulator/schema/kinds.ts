/** The kinds that are served: the built-in ones as a table, custom ones from the CustomResourceDefinitions stored. */

import { at, type Fields, fieldsAt, isFields, itemsAt, numberAt, textAt, withAt } from "../storage/json.ts";
import type { Draft, Item } from "../storage/metadata.ts";
import type { Store } from "../storage/store.ts";

export type Column = {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
};

type Custom = {
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
  ["node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", cluster],
  ["scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup", counted],
  ["apiregistration.k8s.io", "v1", "apiservices", "APIService", cluster],
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

/** The name of the store's table of a resource. */
export const tableOf = ({ plural, group }: { readonly plural: string; readonly group: string }): string =>
  group === "" ? plural : `${plural}.${group}`;

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
  table: tableOf({ plural, group }),
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
const builtInAt = (group: string, version: string, plural: string): Kind | undefined =>
  byPath.get(`${group}/${version}/${plural}`);

export const builtInOf = (table: string): Kind | undefined => byTable.get(table);

export const apiVersionOf = (kind: { readonly group: string; readonly version: string }): string =>
  kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;

export const crdTable = "customresourcedefinitions.apiextensions.k8s.io";

const texts = (value: unknown, ...path: readonly string[]): readonly string[] =>
  itemsAt(value, ...path).filter((item): item is string => typeof item === "string");

const columnOf = (column: unknown): Column => ({
  name: textAt(column, "name") ?? "",
  type: textAt(column, "type") ?? "string",
  format: textAt(column, "format") ?? "",
  description: textAt(column, "description") ?? "",
  priority: numberAt(column, "priority") ?? 0,
  jsonPath: textAt(column, "jsonPath") ?? "",
});

const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

const columnsOf = (version: unknown): readonly Column[] => {
  const own = itemsAt(version, "additionalPrinterColumns").map(columnOf);
  return own.length === 0 ? [age] : own;
};

const storageVersionOf = (crd: unknown): string =>
  textAt(
    itemsAt(crd, "spec", "versions").find((version) => at(version, "storage") === true),
    "name",
  ) ?? "";

const customKindOf = (crd: Item, version: unknown): Kind => {
  const spec = fieldsAt(crd, "spec");
  const kind = textAt(spec, "names", "kind") ?? "";
  const plural = textAt(spec, "names", "plural") ?? "";
  const group = textAt(spec, "group") ?? "";
  const schema = at(version, "schema", "openAPIV3Schema");
  return {
    group,
    version: textAt(version, "name") ?? "",
    plural,
    singular: textAt(spec, "names", "singular") ?? kind.toLowerCase(),
    kind,
    listKind: textAt(spec, "names", "listKind") ?? `${kind}List`,
    shortNames: texts(spec, "names", "shortNames"),
    categories: texts(spec, "names", "categories"),
    namespaced: spec["scope"] !== "Cluster",
    table: tableOf({ plural, group }),
    status: isFields(at(version, "subresources", "status")),
    generation: true,
    unconditional: false,
    createdByPut: false,
    returnsDeleted: false,
    custom: {
      schema: isFields(schema) ? schema : undefined,
      columns: columnsOf(version),
      storageVersion: storageVersionOf(crd),
    },
  };
};

const served = (version: unknown): boolean => at(version, "served") === true;
const cache = new WeakMap<Item, readonly Kind[]>();

/** The kinds that a definition serves, one per served version. */
const kindsOf = (crd: Item): readonly Kind[] => {
  const known = cache.get(crd);
  if (known !== undefined) return known;
  const kinds = itemsAt(crd, "spec", "versions")
    .filter(served)
    .map((version) => customKindOf(crd, version));
  cache.set(crd, kinds);
  return kinds;
};

/** The kind served at a path, built-in or custom. */
export const kindAt = (store: Store, group: string, version: string, plural: string): Kind | undefined => {
  const known = builtInAt(group, version, plural);
  if (known !== undefined || group === "") return known;
  const crd = store.get(crdTable, `${plural}.${group}`);
  return crd === undefined ? undefined : kindsOf(crd).find((kind) => kind.version === version);
};

/** Any served version of the kind that a table holds. */
export const kindOfTable = (store: Store, table: string): Kind | undefined => {
  const known = builtInOf(table);
  if (known !== undefined) return known;
  const crd = store.get(crdTable, table);
  return crd === undefined ? undefined : kindsOf(crd)[0];
};

/** Every served kind, built-in ones first. */
export const allKinds = (store: Store): readonly Kind[] => [...builtIn, ...store.list(crdTable).flatMap(kindsOf)];

const builtInNamed: ReadonlyMap<string, Kind> = new Map(
  builtIn.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]),
);

/** The kind that an ownerReference names. */
export const kindNamed = (store: Store, apiVersion: string, kind: string): Kind | undefined =>
  builtInNamed.get(`${apiVersion}/${kind}`) ??
  store
    .list(crdTable)
    .flatMap(kindsOf)
    .find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);

const condition = (type: string, reason: string, message: string, time: string) => ({
  type,
  status: "True",
  lastTransitionTime: time,
  reason,
  message,
});

/** A CRD as the server stores it: names completed and established at once. */
export const established = (crd: Draft, time: string): Draft => {
  const names = fieldsAt(crd, "spec", "names");
  const kind = textAt(names, "kind") ?? "";
  const accepted = {
    ...names,
    singular: textAt(names, "singular") ?? kind.toLowerCase(),
    listKind: textAt(names, "listKind") ?? `${kind}List`,
  };
  const conditions = [
    condition("NamesAccepted", "NoConflicts", "no conflicts found", time),
    condition("Established", "InitialNamesAccepted", "the initial names have been accepted", time),
  ];
  const spec = fieldsAt(
    withAt(
      withAt(crd, ["spec", "names"], accepted),
      ["spec", "conversion"],
      at(crd, "spec", "conversion") ?? { strategy: "None" },
    ),
    "spec",
  );
  return { ...crd, spec, status: { conditions, acceptedNames: accepted, storedVersions: [storageVersionOf(crd)] } };
};
