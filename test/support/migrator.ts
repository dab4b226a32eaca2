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
