/** The rights in the guide on migrating: tried on a real API server, and compared with the command's requests. */

const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]) => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
});

/** The rules of the guide on migrating. */
export const migratorRules = [
  rule("apps", ["deployments"], ["get", "list", "patch"]),
  rule("coordination.k8s.io", ["leases"], ["get", "list", "create", "update", "delete"]),
  rule("", ["configmaps"], ["list", "create", "update", "delete"]),
  rule(
    "admissionregistration.k8s.io",
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    ["get", "list", "create", "update", "delete"],
  ),
  rule("rbac.authorization.k8s.io", ["clusterrolebindings"], ["list"]),
  rule("rbac.authorization.k8s.io", ["clusterroles"], ["get"]),
  rule("apiextensions.k8s.io", ["customresourcedefinitions"], ["list"]),
  rule("sparkoperator.k8s.io", ["sparkapplications", "scheduledsparkapplications", "sparkconnects"], ["list"]),
  rule("spark.apache.org", ["sparkapplications", "sparkclusters"], ["list"]),
  rule("batch.volcano.sh", ["jobs", "cronjobs"], ["list"]),
  rule("flow.volcano.sh", ["jobflows"], ["list"]),
  rule("scheduling.volcano.sh", ["queues", "podgroups"], ["list"]),
  rule("rekindle.dev", ["checkpoints"], ["list", "delete"]),
  { ...rule("", ["namespaces"], ["get"]), resourceNames: ["kube-system"] },
];

/** The rules of the guide for those who move applications between the two APIs, beside those above. */
export const moverRules = [
  rule("sparkoperator.k8s.io", ["sparkapplications"], ["get", "create", "patch", "delete"]),
  rule("sparkoperator.k8s.io", ["sparkapplications/status"], ["patch"]),
  rule("spark.apache.org", ["sparkapplications"], ["get", "create", "patch", "delete"]),
  rule("spark.apache.org", ["sparkapplications/status"], ["patch"]),
  rule("", ["pods", "services", "persistentvolumeclaims"], ["list", "patch"]),
  rule("", ["configmaps"], ["patch"]),
  rule("networking.k8s.io", ["networkpolicies", "ingresses"], ["list", "patch"]),
  rule("gateway.networking.k8s.io", ["httproutes"], ["list", "patch"]),
  rule("policy", ["poddisruptionbudgets"], ["list", "patch"]),
  rule("rekindle.dev", ["checkpoints"], ["get", "create"]),
];
