/** The default roles of a cluster that keeps rights. */
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

type Furniture = readonly (readonly [table: string, namespace: undefined, body: unknown])[];

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

export const bootstrap: Furniture = [
  ...bound("cluster-admin", "system:masters", everything),
  ...bound("system:discovery", "system:authenticated", discovery),
  ...bound("system:basic-user", "system:authenticated", basics),
  ...role("edit", edit),
  ...role("view", view),
];
