/**
 * Names of variables that a host has and functions have not, and the other way round. A setting of the wrong side is
 * refused with the name to use there: a value that is ignored looks as if it were in force.
 */

/** A function's variable, and the host's that stands for it. */
const pairs: readonly (readonly [ofFunction: string, ofHost: string])[] = [
  ["REKINDLE_CLUSTER_ALIAS", "REKINDLE_CLUSTER"],
  ["REKINDLE_CLUSTER_RECORD", "REKINDLE_KUBECONFIG"],
  ["REKINDLE_TRIGGER_SECRET", "REKINDLE_TRIGGER_SECRET_FILE"],
  ["REKINDLE_UPDATES_SECRET", "REKINDLE_UPDATES_SECRET_FILE"],
  ["REKINDLE_TLS_CERT_FILE", "REKINDLE_ADMISSION_CERTIFICATES"],
  ["REKINDLE_TLS_KEY_FILE", "REKINDLE_ADMISSION_CERTIFICATES"],
];

/** Why a host has no such setting. */
const reasons: Readonly<Record<string, string>> = {
  REKINDLE_FIFO_URL: "its queue is inside the process",
  REKINDLE_DELAY_URL: "its queue is inside the process",
  REKINDLE_UPDATES_URL: "its queue is inside the process",
  REKINDLE_WINDOW: "it watches all the time",
};

/** What a host says of a variable that only functions read. */
export const refusalByHost = (variable: string): string => {
  const instead = pairs.find(([ofFunction]) => ofFunction === variable)?.[1];
  if (instead !== undefined) return `is a setting of functions; a host takes ${instead} instead`;
  const reason = reasons[variable];
  return `is a setting of functions, and a host has none like it${reason === undefined ? "" : `: ${reason}`}; unset it`;
};

/** What a function says of a variable that only hosts read. */
export const refusalByFunction = (variable: string): string => {
  const instead = pairs.find(([, ofHost]) => ofHost === variable)?.[0];
  return instead === undefined
    ? "is a setting of a host, and functions have none like it; unset it"
    : `is a setting of a host; a function takes ${instead} instead`;
};

/** Every variable that only a host reads. Written out: a function's bundle does not carry the host's settings. */
export const hostOnly: ReadonlySet<string> = new Set(
  [
    "CLUSTER",
    "KUBECONFIG",
    "CONTEXT",
    "QUEUE",
    "CONCURRENCY",
    "PARALLEL",
    "RESYNC",
    "STEP",
    "FENCE",
    "TIMEOUT",
    "STRICT",
    "RECONFIGURATION_POLICY",
    "REREGISTRATION",
    "KEEP_RUNS",
    "KEEP_RUNS_FOR",
    "TRIGGER_SECRET_FILE",
    "LOG_LEVEL",
    "DRY_RUN",
    "OUTPUT",
    "TAKE_OVER",
    "COEXIST",
    "ADMISSION",
    "ADMISSION_LISTEN",
    "ADMISSION_REACH",
    "ADMISSION_SECRET",
    "ADMISSION_CERTIFICATES",
    "UPDATES_HOSTS",
    "UPDATES_ALLOW_PRIVATE",
    "UPDATES_SECRET_FILE",
    "ENABLE_UI_SERVICE",
    "INGRESS_URL_FORMAT",
    "INGRESS_CLASS_NAME",
    "INGRESS_ANNOTATIONS",
    "INGRESS_TLS",
    "ENABLE_BATCH_SCHEDULER",
    "DEFAULT_BATCH_SCHEDULER",
    "KUBE_SCHEDULER_NAMES",
    "ENABLE_DRIVER_PDB",
    "DEFAULT_TIME_TO_LIVE_SECONDS",
    "MAX_TRACKED_EXECUTOR_PER_APP",
    "METRICS_PREFIX",
    "METRICS_LABELS",
    "METRICS_JOB_SUBMIT_LATENCY_BUCKETS",
    "METRICS_JOB_START_LATENCY_BUCKETS",
  ].map((name) => `REKINDLE_${name}`),
);
