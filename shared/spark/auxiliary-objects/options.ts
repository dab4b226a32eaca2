/** A deployment's options for all its applications of Spark: the flags and properties of both upstream operators, with their meaning. */
import type { Json } from "../../kube/responses.ts";

export type Options = {
  /** `--enable-ui-service`. */
  readonly uiService: boolean;
  /** `--ingress-*`: a format such as `{{$appName}}.example.com`, "" for no ingress of the web UI. */
  readonly ingressUrlFormat: string;
  readonly ingressClassName: string;
  /** The Gateway whose HTTPRoutes stand in the place of Ingresses, `NAMESPACE/NAME` or `NAMESPACE/NAME/LISTENER`; "": none. */
  readonly uiGateway: string;
  /** The host under which clients outside of the cluster reach a Connect server, such as `{{$appName}}.connect.example.com`; "": none. */
  readonly connectHostFormat: string;
  readonly ingressAnnotations: Readonly<Record<string, string>>;
  readonly ingressTls: readonly Json[];
  /** `--enable-batch-scheduler`, `--default-batch-scheduler`, `--kube-scheduler-names`. */
  readonly batchScheduler: boolean;
  readonly defaultBatchScheduler: string;
  readonly kubeSchedulerNames: readonly string[];
  /** `--enable-driver-pdb`. */
  readonly driverPdb: boolean;
  /** `--default-time-to-live-seconds`; 0 for none. */
  readonly defaultTimeToLiveSeconds: number;
  /** The time for which the end of a driver's log is kept after its pod, ms; 0: none is kept. */
  readonly keepLogsMs: number;
  /** In the place of upstream's feature gate PartialRestart, where Rekindle creates the executors. */
  readonly partialRestart: boolean;
  /** Confs below those of each application, in the place of upstream's feature gate LoadSparkDefaults. */
  readonly sparkDefaults: Readonly<Record<string, string>>;
  /** `--max-tracked-executor-per-app`. */
  readonly trackedExecutors: number;
  /** Of Apache's operator, `name`: the value of the label `spark.operator/name`. */
  readonly apacheOperatorName: string;
  /** Of Apache's operator, `trimStateTransitionHistoryEnabled`. */
  readonly apacheTrimsHistory: boolean;
};

/** Upstream's defaults. */
export const defaultOptions: Options = {
  uiService: true,
  ingressUrlFormat: "",
  ingressClassName: "",
  uiGateway: "",
  connectHostFormat: "",
  ingressAnnotations: {},
  ingressTls: [],
  batchScheduler: false,
  defaultBatchScheduler: "",
  kubeSchedulerNames: [],
  driverPdb: false,
  defaultTimeToLiveSeconds: 0,
  keepLogsMs: 0,
  partialRestart: false,
  sparkDefaults: {},
  trackedExecutors: 1_000,
  apacheOperatorName: "spark-kubernetes-operator",
  apacheTrimsHistory: true,
};
