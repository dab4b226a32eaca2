/** The rights that `rekindle migrate` needs, as its users are told: tried on a real API server, and held against what it asks. */

const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]) => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
});

/** As the guide on migrating says. */
export const migratorRules = [
  rule("apps", ["deployments"], ["get", "list", "patch"]),
  rule("coordination.k8s.io", ["leases"], ["get", "list", "create", "update", "delete"]),
  rule("", ["configmaps"], ["list", "create", "update", "delete"]),
  rule(
    "admissionregistration.k8s.io",
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    ["get", "list", "create", "update", "delete"],
  ),
  rule("apiextensions.k8s.io", ["customresourcedefinitions"], ["list"]),
  rule("sparkoperator.k8s.io", ["sparkapplications", "scheduledsparkapplications", "sparkconnects"], ["list"]),
  rule("batch.volcano.sh", ["jobs", "cronjobs"], ["list"]),
  rule("flow.volcano.sh", ["jobflows"], ["list"]),
  rule("scheduling.volcano.sh", ["queues", "podgroups"], ["list"]),
  rule("rekindle.dev", ["checkpoints"], ["list", "delete"]),
  { ...rule("", ["namespaces"], ["get"]), resourceNames: ["kube-system"] },
];
