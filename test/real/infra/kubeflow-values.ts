/** The names in values.yaml of each release of kubeflow's chart, each with a value of its default's type. */

type Values = Readonly<Record<string, unknown>>;

const each = (prefix: string, names: string, value: unknown): readonly (readonly [string, unknown])[] =>
  names.split(" ").map((name) => [`${prefix}${name}`, value] as const);

/** Values that controller and webhook share. */
const workload = (prefix: string) => [
  ...each(prefix, "replicas", 1),
  ...each(prefix, "leaderElection.enable serviceAccount.create rbac.create", true),
  ...each(prefix, "serviceAccount.automountServiceAccountToken", true),
  ...each(prefix, "logLevel", "info"),
  ...each(prefix, "serviceAccount.name priorityClassName", ""),
  ...each(prefix, "serviceAccount.annotations rbac.annotations labels annotations nodeSelector affinity resources", {}),
  ...each(prefix, "tolerations topologySpreadConstraints env envFrom sidecars", []),
  ...each(prefix, "podSecurityContext.fsGroup", 185),
  ...each(prefix, "securityContext.readOnlyRootFilesystem securityContext.runAsNonRoot", true),
  ...each(prefix, "securityContext.privileged securityContext.allowPrivilegeEscalation", false),
  ...each(prefix, "securityContext.capabilities.drop", ["ALL"]),
  ...each(prefix, "securityContext.seccompProfile.type", "RuntimeDefault"),
  ...each(prefix, "podDisruptionBudget.enable", false),
  ...each(prefix, "podDisruptionBudget.minAvailable", 1),
];

const v221 = [
  ...each("", "nameOverride fullnameOverride image.tag", ""),
  ...each("", "commonLabels", {}),
  ...each("image.", "registry", "ghcr.io"),
  ...each("image.", "repository", "kubeflow/spark-operator/controller"),
  ...each("image.", "pullPolicy", "IfNotPresent"),
  ...each("image.", "pullSecrets", []),
  ...workload("controller."),
  ...each("controller.", "workers", 10),
  ...each("controller.", "driverPodCreationGracePeriod", "10s"),
  ...each("controller.", "maxTrackedExecutorPerApp", 1000),
  ...each("controller.", "uiService.enable", true),
  ...each("controller.", "uiIngress.enable batchScheduler.enable pprof.enable", false),
  ...each("controller.", "uiIngress.urlFormat uiIngress.ingressClassName batchScheduler.default", ""),
  ...each("controller.", "uiIngress.tls batchScheduler.kubeSchedulerNames", []),
  ...each("controller.", "uiIngress.annotations", {}),
  ...each("controller.", "volumes", [{ name: "tmp", emptyDir: { sizeLimit: "1Gi" } }]),
  ...each("controller.", "volumeMounts", [{ name: "tmp", mountPath: "/tmp", readOnly: false }]),
  ...each("controller.", "pprof.port", 6060),
  ...each("controller.", "pprof.portName", "pprof"),
  ...each("controller.", "workqueueRateLimiter.bucketQPS workqueueRateLimiter.bucketSize", 50),
  ...each("controller.", "workqueueRateLimiter.maxDelay.enable", true),
  ...each("controller.", "workqueueRateLimiter.maxDelay.duration", "6h"),
  ...workload("webhook."),
  ...each("webhook.", "enable", true),
  ...each("webhook.", "port", 9443),
  ...each("webhook.", "portName", "webhook"),
  ...each("webhook.", "failurePolicy", "Fail"),
  ...each("webhook.", "timeoutSeconds", 10),
  ...each("webhook.", "resourceQuotaEnforcement.enable", false),
  ...each("webhook.", "volumes", [{ name: "serving-certs", emptyDir: { sizeLimit: "500Mi" } }]),
  ...each("webhook.", "volumeMounts", [{ name: "serving-certs", mountPath: "/etc/certs", subPath: "serving-certs" }]),
  ...each("spark.", "jobNamespaces", ["default"]),
  ...each("spark.", "serviceAccount.create serviceAccount.automountServiceAccountToken rbac.create", true),
  ...each("spark.", "serviceAccount.name", ""),
  ...each("spark.", "serviceAccount.annotations rbac.annotations", {}),
  ...each("prometheus.", "metrics.enable", true),
  ...each("prometheus.", "metrics.port", 8080),
  ...each("prometheus.", "metrics.portName", "metrics"),
  ...each("prometheus.", "metrics.endpoint", "/metrics"),
  ...each("prometheus.", "metrics.prefix", ""),
  ...each("prometheus.", "metrics.jobStartLatencyBuckets", "30,60,90"),
  ...each("prometheus.", "podMonitor.create", false),
  ...each("prometheus.", "podMonitor.labels", {}),
  ...each("prometheus.", "podMonitor.jobLabel", "spark-operator-podmonitor"),
  ...each("prometheus.", "podMonitor.podMetricsEndpoint.scheme", "http"),
  ...each("prometheus.", "podMonitor.podMetricsEndpoint.interval", "5s"),
  ...each("certManager.", "enable", false),
  ...each("certManager.", "issuerRef", {}),
  ...each("certManager.", "duration renewBefore", ""),
];

const v230 = [
  ...v221,
  ...each("hook.", "upgradeCrd", false),
  ...each("hook.image.", "registry repository tag", "x"),
  ...each("", "controller.logEncoder webhook.logEncoder", "console"),
];

const v240 = [
  ...v230,
  ...each("", "controller.revisionHistoryLimit webhook.revisionHistoryLimit", 10),
  ...each("controller.leaderElection.", "leaseDuration renewDeadline retryPeriod", "15s"),
];

const gates = ["PartialRestart", "LoadSparkDefaults"].map((name) => ({ name, enabled: false }));

const v252 = [
  ...v240,
  ...each("hook.", "nodeSelector affinity", {}),
  ...each("hook.", "tolerations", []),
  ...each("controller.", "featureGates", gates),
  ...each("", "controller.kubeAPIQPS webhook.kubeAPIQPS controller.kubeAPIBurst webhook.kubeAPIBurst", 20),
  ...each("controller.", "scheduledSparkApplicationTimestampPrecision", "nanos"),
  ...each("", "controller.hostUsers webhook.hostUsers", null),
  ...each("spark.", "jobNamespaceSelector", ""),
  ...each("prometheus.metrics.", "jobSubmitLatencyBuckets labels", ""),
];

/** The development version, as far as its names are known: `submitter` is a new group. */
const head = [
  ...v252,
  ...each("", "controller.dnsConfig webhook.dnsConfig", {}),
  ...each("controller.", "defaultTimeToLiveSeconds", 0),
  ...each("controller.driverPodDisruptionBudget.", "enable", false),
  ...each("", "hook.resources hook.annotations hook.labels controller.deploymentAnnotations", {}),
  ...each("submitter.", "enable", false),
  ...each("submitter.", "replicas", 1),
];

/** Values by release. */
export const kubeflowValues: Readonly<Record<string, readonly (readonly [path: string, value: unknown])[]>> = {
  "2.2.1": v221,
  "2.3.0": v230,
  "2.4.0": v240,
  "2.5.2": v252,
  HEAD: head,
};

const placed = (tree: Values, [first = "", ...rest]: readonly string[], leaf: unknown): Values => {
  if (rest.length === 0) return { ...tree, [first]: leaf };
  const below = tree[first];
  const group: Values = typeof below === "object" && below !== null ? Object.fromEntries(Object.entries(below)) : {};
  return { ...tree, [first]: placed(group, rest, leaf) };
};

/** Returns the rows as the tree of a values file. */
export const treeOf = (rows: readonly (readonly [string, unknown])[]): Values =>
  rows.reduce<Values>((tree, [path, value]) => placed(tree, path.split("."), value), {});
