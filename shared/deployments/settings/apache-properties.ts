/** The properties of Apache's Spark operator, and the handling of each here. */
import type { Row } from "./upstream-flags.ts";

const ignored = (because: string, ...names: readonly string[]): readonly Row[] =>
  names.map((name) => ({ flag: `spark.kubernetes.operator.${name}`, is: "ignored", because }));

const setting = (
  name: string,
  of: Extract<Row, { is: "setting" }>["name"],
  words: Readonly<Record<string, string>> = {},
): Row => ({
  ...{ flag: `spark.kubernetes.operator.${name}`, is: "setting", name: of },
  words,
});

const refused = (name: string, because: string, ...harmless: readonly string[]): Row => ({
  ...{ flag: `spark.kubernetes.operator.${name}`, is: "refused", because },
  harmless,
});

const listening = "no Java class is loaded: name a listener by the annotation rekindle.dev/updates-to of each object";

/** All properties of release 1.0, by topic. */
export const apacheRows: readonly Row[] = [
  setting("name", "apacheOperatorName"),
  setting("watchedNamespaces", "namespaces", { "*": "" }),
  setting("reconciler.labelSelector", "selector"),
  setting("reconciler.trimStateTransitionHistoryEnabled", "apacheTrimsHistory"),
  refused("reconciler.appStatusListenerClassNames", listening, ""),
  refused("reconciler.clusterStatusListenerClassNames", listening, ""),
  refused(
    "dynamicConfig.enabled",
    "a running host reads no changed properties: give it what the ConfigMap of overrides says, and start it again to change that",
    "false",
    "",
  ),
  ...ignored("a host has the namespace of its own Deployment", "namespace"),
  ...ignored(
    "steps follow from events and from timers of their own; --concurrency and --parallel bound them",
    ...["reconciler.intervalSeconds", "reconciler.parallelism", "reconciler.terminationTimeoutSeconds"],
    ...["reconciler.rateLimiter.maxLoopForPeriod", "reconciler.rateLimiter.refreshPeriodSeconds"],
    ...["reconciler.retry.initialIntervalSeconds", "reconciler.retry.intervalMultiplier"],
    "reconciler.retry.maxIntervalSeconds",
  ),
  ...ignored(
    "requests that fail are tried again without end, and use up no restart",
    ...["api.retryMaxAttempts", "api.retryAttemptAfterSeconds", "api.statusPatchMaxAttempts"],
    ...["api.secondaryResourceCreateMaxAttempts", "api.secondaryResourceCreateInitialBackoffMillis"],
    ...["api.secondaryResourceCreateBackoffMultiplier", "api.secondaryResourceCreateMaxBackoffMillis"],
    "api.secondaryResourceCreateBackoffJitterMillis",
  ),
  ...ignored(
    "a step waits for no deletion, and calls a driver missing only after a live read",
    ...["reconciler.foregroundRequestTimeoutSeconds", "reconciler.missingDriverGracePeriodSeconds"],
    "reconciler.missingDriverRequeueIntervalSeconds",
  ),
  ...ignored(
    "nothing is served from a cache that has to fill",
    ...["informer.cacheSyncTimeoutSeconds", "informer.terminateOnInformerFailureEnabled"],
  ),
  ...ignored(
    "hosts elect no leader: every write is fenced, so two hosts at once do no harm",
    ...["leaderElection.enabled", "leaderElection.leaseName", "leaderElection.leaseDurationSeconds"],
    ...["leaderElection.renewDeadlineSeconds", "leaderElection.retryPeriodSeconds"],
  ),
  ...ignored(
    "a running host reads no changed properties",
    ...["dynamicConfig.source", "dynamicConfig.selector", "dynamicConfig.filePath"],
    ...["dynamicConfig.reloadIntervalSeconds", "dynamicConfig.reconcilerParallelism"],
  ),
  ...ignored(
    "health, metrics and the page are served at --listen",
    ...["health.probePort", "health.sentinelExecutorPoolSize", "health.sentinelResourceReconciliationDelaySeconds"],
    ...["metrics.port", "metrics.path", "metrics.clientMetricsEnabled"],
    ...["metrics.clientMetricsGroupByResponseCodeEnabled", "metrics.josdkMetricsEnabled"],
    ...["metrics.prometheusTextBasedFormatEnabled", "metrics.sanitizePrometheusMetricsNameEnabled"],
  ),
  ...ignored("no JVM runs here", "periodicGC.intervalSeconds"),
  ...ignored("an Event tells each state", "events.enabled"),
];
