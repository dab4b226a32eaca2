/** What parsed settings mean to the engine, to Spark's kinds and to figures. */
import { type RecoverySettings, recovery, type Timing, timing } from "../../engine/settings.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import type { Naming } from "../host/metrics.ts";
import type { Settings } from "./table.ts";

type OfSteps = Settings<"reconcile">;

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
  | "ingressAnnotations"
  | "ingressTls"
  | "enableBatchScheduler"
  | "defaultBatchScheduler"
  | "kubeSchedulerNames"
  | "enableDriverPdb"
  | "defaultTimeToLiveSeconds"
  | "maxTrackedExecutorPerApp";

export const sparkOptionsOf = (values: Pick<OfSteps, OfSpark>): Options => ({
  uiService: values.enableUiService,
  ingressUrlFormat: values.ingressUrlFormat,
  ingressClassName: values.ingressClassName,
  ingressAnnotations: values.ingressAnnotations,
  ingressTls: values.ingressTls,
  batchScheduler: values.enableBatchScheduler,
  defaultBatchScheduler: values.defaultBatchScheduler,
  kubeSchedulerNames: values.kubeSchedulerNames,
  driverPdb: values.enableDriverPdb,
  defaultTimeToLiveSeconds: values.defaultTimeToLiveSeconds,
  trackedExecutors: values.maxTrackedExecutorPerApp,
});

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

/** Leader leases to look for; none where others are not to be looked for. */
export const leasesOf = ({
  leases,
  takeOver,
  coexist,
}: Pick<OfSteps, "leases" | "takeOver" | "coexist">): readonly string[] => (takeOver || coexist ? [] : leases);
