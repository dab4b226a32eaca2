/** The initial objects of every cluster: namespaces, their service accounts, the given CRDs, and the default roles where rights
 * are kept. */

import { builtInOf, crdTable, type Kind } from "../schema/kinds.ts";
import type { Change } from "../storage/store.ts";
import { create } from "../verbs/create.ts";
import type { Server, Target, WriteOptions } from "../verbs/request.ts";

const own: WriteOptions = { dryRun: false, manager: "rekindle-simulator", strict: "Ignore" };

const targetIn = (kind: Kind, namespace?: string): Target => ({
  kind,
  namespace,
  name: undefined,
  sub: undefined,
  rest: "",
});

/** Creates an object of a built-in kind as the cluster itself does. */
export const make = (server: Server, table: string, namespace: string | undefined, body: unknown): void => {
  const kind = builtInOf(table);
  if (kind !== undefined) create(server, targetIn(kind, namespace), body, own);
};

const certificate = "-----BEGIN CERTIFICATE-----\nc2ltdWxhdGVk\n-----END CERTIFICATE-----\n";

/** Creates the default service account and the cluster's certificate in a new namespace. */
export const furnishNamespace = (server: Server, { type, table, object }: Change): void => {
  if (type !== "ADDED" || table !== "namespaces") return;
  const { name } = object.metadata;
  make(server, "serviceaccounts", name, { metadata: { name: "default" } });
  make(server, "configmaps", name, { metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": certificate } });
};

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"] as const;

type Furniture = readonly (readonly [table: string, namespace: string | undefined, body: unknown])[];

export const createInitialObjects = (server: Server, crds: readonly unknown[], objects: Furniture): void => {
  for (const name of namespaces) make(server, "namespaces", undefined, { metadata: { name } });
  for (const crd of crds) make(server, crdTable, undefined, crd);
  for (const [table, namespace, body] of objects) make(server, table, namespace, body);
};

const api = "rbac.authorization.k8s.io";

const rule = (group: string, resources: readonly string[], verbs: readonly string[]) => ({
  apiGroups: [group],
  resources,
  verbs,
});

const paths = ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz"];
const discovery = [{ nonResourceURLs: [...paths, "/version", "/version/"], verbs: ["get"] }];
const everything = [rule("*", ["*"], ["*"]), { nonResourceURLs: ["*"], verbs: ["*"] }];

const basics = [
  rule("authorization.k8s.io", ["selfsubjectaccessreviews", "selfsubjectrulesreviews"], ["create"]),
  rule("authentication.k8s.io", ["selfsubjectreviews"], ["create"]),
];

const seen = ["get", "list", "watch"] as const;
const written = [...seen, "create", "delete", "deletecollection", "patch", "update"] as const;
const inCore = ["configmaps", "endpoints", "persistentvolumeclaims", "pods", "replicationcontrollers", "services"];
const namespaced = [...inCore, "serviceaccounts"];
const viewed = ["events", "limitranges", "namespaces", "pods/log", "pods/status", "resourcequotas"];

const groups: readonly (readonly [string, readonly string[]])[] = [
  ["apps", ["daemonsets", "deployments", "replicasets", "statefulsets"]],
  ["batch", ["cronjobs", "jobs"]],
  ["networking.k8s.io", ["ingresses", "networkpolicies"]],
  ["policy", ["poddisruptionbudgets"]],
];

const view = [
  rule("", [...namespaced, ...viewed], seen),
  ...groups.map(([group, resources]) => rule(group, resources, seen)),
];

const edit = [
  rule("", [...namespaced, "secrets"], written),
  rule("", viewed, seen),
  rule("", ["pods/eviction"], ["create"]),
  ...groups.map(([group, resources]) => rule(group, resources, written)),
];

const role = (name: string, rules: readonly unknown[]): Furniture => [
  [`clusterroles.${api}`, undefined, { metadata: { name }, rules }],
];

const bound = (name: string, group: string, rules: readonly unknown[]): Furniture => [
  ...role(name, rules),
  [
    `clusterrolebindings.${api}`,
    undefined,
    {
      metadata: { name },
      roleRef: { apiGroup: api, kind: "ClusterRole", name },
      subjects: [{ apiGroup: api, kind: "Group", name: group }],
    },
  ],
];

/** The default roles of a cluster that keeps rights. */
export const bootstrap: Furniture = [
  ...bound("cluster-admin", "system:masters", everything),
  ...bound("system:discovery", "system:authenticated", discovery),
  ...bound("system:basic-user", "system:authenticated", basics),
  ...role("edit", edit),
  ...role("view", view),
];
