/** Converts parsed settings into those of the engine, of the Spark family and of metrics. */
import { type RecoverySettings, recovery, type Timing, timing } from "../../engine/settings.ts";
import type { Lookout } from "../../forward/controller-detection.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import type { Settings } from "./table.ts";

type OfSteps = Settings<"reconcile">;

/** Returns the weight of each namespace; 1 for a namespace that none is set for. */
export const weightOf = ({ namespaceWeights }: Pick<OfSteps, "namespaceWeights">): ((namespace: string) => number) => {
  const weights = new Map(
    namespaceWeights.map((one): [string, number] => {
      const [namespace = "", weight] = one.split("=");
      return [namespace, Number(weight)];
    }),
  );
  return (namespace) => weights.get(namespace) ?? 1;
};

/** `parallel`: absent where no stage is applied. */
export const timingOf = ({
  fenceMs,
  timeoutMs: requestTimeoutMs,
  stepMs,
  parallel = timing.parallel,
}: Pick<OfSteps, "fenceMs" | "timeoutMs" | "stepMs"> & Partial<Pick<OfSteps, "parallel">>): Timing => ({
  fenceMs,
  requestTimeoutMs,
  stepMs,
  parallel,
});

export const recoverySettingsOf = ({
  strict,
  reconfigurationPolicy: policy,
  reregistrationMs: returnMs,
  keepRuns: runs,
  keepRunsForMs: retentionMs,
}: Pick<
  OfSteps,
  "strict" | "reconfigurationPolicy" | "reregistrationMs" | "keepRuns" | "keepRunsForMs"
>): RecoverySettings => ({ ...recovery, strict, policy, returnMs, runs, retentionMs });

type OfSpark =
  | "enableUiService"
  | "ingressUrlFormat"
  | "ingressClassName"
  | "uiGateway"
  | "connectHostFormat"
  | "ingressAnnotations"
  | "ingressTls"
  | "enableBatchScheduler"
  | "defaultBatchScheduler"
  | "kubeSchedulerNames"
  | "enableDriverPdb"
  | "defaultTimeToLiveSeconds"
  | "keepDriverLogsMs"
  | "partialRestart"
  | "sparkDefaults"
  | "maxTrackedExecutorPerApp"
  | "apacheOperatorName"
  | "apacheTrimsHistory";

export const sparkOptionsOf = (values: Pick<OfSteps, OfSpark>): Options => ({
  uiService: values.enableUiService,
  ingressUrlFormat: values.ingressUrlFormat,
  ingressClassName: values.ingressClassName,
  uiGateway: values.uiGateway,
  connectHostFormat: values.connectHostFormat,
  ingressAnnotations: values.ingressAnnotations,
  ingressTls: values.ingressTls,
  batchScheduler: values.enableBatchScheduler,
  defaultBatchScheduler: values.defaultBatchScheduler,
  kubeSchedulerNames: values.kubeSchedulerNames,
  driverPdb: values.enableDriverPdb,
  defaultTimeToLiveSeconds: values.defaultTimeToLiveSeconds,
  keepLogsMs: values.keepDriverLogsMs,
  partialRestart: values.partialRestart,
  sparkDefaults: values.sparkDefaults,
  trackedExecutors: values.maxTrackedExecutorPerApp,
  apacheOperatorName: values.apacheOperatorName,
  apacheTrimsHistory: values.apacheTrimsHistory,
});

/** The names, labels and buckets of a process's metrics; buckets in seconds. */
export type Naming = {
  readonly prefix: string;
  /** Labels of applications that become labels of their metrics, or `namespace`. */
  readonly labels: readonly string[];
  readonly submitBuckets: readonly number[];
  readonly startBuckets: readonly number[];
};

export const namingOf = (
  values: Pick<
    Settings<"host">,
    "metricsPrefix" | "metricsLabels" | "metricsJobSubmitLatencyBuckets" | "metricsJobStartLatencyBuckets"
  >,
): Naming => ({
  prefix: values.metricsPrefix,
  labels: values.metricsLabels,
  submitBuckets: values.metricsJobSubmitLatencyBuckets,
  startBuckets: values.metricsJobStartLatencyBuckets,
});

/** Returns where to look for other controllers; without leases where their detection is off. */
export const lookoutOf = ({
  leases,
  controllerNamespaces: namespaces,
  takeOver,
  coexist,
}: Pick<OfSteps, "leases" | "controllerNamespaces" | "takeOver" | "coexist">): Lookout => ({
  namespaces,
  leases: takeOver || coexist ? [] : leases,
});
