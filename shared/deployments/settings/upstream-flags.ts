/**
 * The flags of upstream's Spark controller and webhook and of Volcano's controller manager, and the handling of each
 * here, so that a Deployment's arguments can stay as they are.
 */
import type { SettingName } from "./table.ts";

type Fate =
  /** A setting has the same name and meaning. */
  | { readonly is: "same" }
  /** A setting has another name. `words` maps values with another name here; `{}` in `form` stands for the value. */
  | {
      readonly is: "setting";
      readonly name: SettingName;
      readonly words?: Readonly<Record<string, string>>;
      readonly form?: string;
    }
  /** One of two flags that name the Service of admission. */
  | { readonly is: "part"; readonly part: Part }
  | { readonly is: "ignored"; readonly because: string }
  /** Refused, unless its value has no effect. */
  | { readonly is: "refused"; readonly because: string; readonly harmless: readonly string[] };

/** The part of a Service that a flag names: upstream uses two flags. */
export type Part = "namespace" | "name";

export type Row = Fate & { readonly flag: string; readonly takes?: "nothing" };

const same: Fate = { is: "same" };
const ignored = (because: string): Fate => ({ is: "ignored", because });
/** Refused, unless each part of its value is one of `harmless`. */
const refused = (because: string, ...harmless: readonly string[]): Fate => ({
  is: "refused",
  because,
  harmless,
});

const noCache = ignored("nothing is served from a cache that has to fill");
const noLeader = ignored("hosts elect no leader: every write is fenced, so two hosts at once do no harm");
const noSubmitter = ignored("submissions are made in this process, without a service or a JVM");
const noLimiter = ignored("bursts are coalesced per application; --concurrency and --parallel bound the rest");
const oneDoor = ignored("health, metrics and the page are served at --listen, over plain HTTP");
const oneLog = ignored("logs are JSON, with the time in ms since the epoch");

const plainMetrics = refused("nothing is served over TLS: listen on loopback, and put a proxy in front", "false");
const ownSecret = ignored("its certificate is in the Secret of --admission-secret; upstream's Secret has another form");
const ownCertificate = ignored("admission creates its certificate; for your own, use --admission-certificates=DIR");
const ownName = ignored("its webhook configurations are called rekindle");
const tls = ignored("admission takes TLS 1.2 and later, with Node's ciphers");

/** Log flags of both programs, in the order of upstream's help. */
const logs: readonly Row[] = [
  { flag: "zap-devel", takes: "nothing", ...ignored("use --log-level=debug") },
  { flag: "zap-encoder", ...oneLog },
  { flag: "zap-log-level", is: "setting", name: "logLevel", words: { panic: "error" } },
  { flag: "zap-stacktrace-level", ...oneLog },
  { flag: "zap-time-encoding", ...oneLog },
];

/** Flags of the controller, in the order of upstream's help. */
export const rows: readonly Row[] = [
  { flag: "cache-sync-timeout", ...noCache },
  { flag: "controller-threads", is: "setting", name: "concurrency" },
  { flag: "default-batch-scheduler", ...same },
  { flag: "default-time-to-live-seconds", ...same },
  {
    flag: "driver-pod-creation-grace-period",
    ...ignored("Rekindle reads a missing driver pod again, live, before it counts the driver as lost"),
  },
  { flag: "enable-batch-scheduler", takes: "nothing", ...same },
  { flag: "enable-driver-pdb", takes: "nothing", ...same },
  { flag: "enable-metrics", takes: "nothing", ...oneDoor },
  { flag: "enable-ui-service", takes: "nothing", ...same },
  {
    flag: "feature-gates",
    ...refused(
      "DefaultTimeToLive is always on (--default-time-to-live-seconds); write the confs of LoadSparkDefaults in --spark-defaults; PartialRestart is --partial-restart, for executors that Rekindle creates; RestSubmitter does not exist in Rekindle: remove them",
      ...["", "DefaultTimeToLive=true", "DefaultTimeToLive=false", "AllAlpha=false", "AllBeta=false", "AllBeta=true"],
      ...["PartialRestart=false", "LoadSparkDefaults=false", "RestSubmitter=false"],
    ),
  },
  { flag: "health-probe-bind-address", ...oneDoor },
  { flag: "help", ...same },
  { flag: "ingress-annotations", ...same },
  { flag: "ingress-class-name", ...same },
  { flag: "ingress-tls", ...same },
  { flag: "ingress-url-format", ...same },
  { flag: "kube-api-burst", ...noLimiter },
  { flag: "kube-api-qps", ...noLimiter },
  { flag: "kube-scheduler-names", ...same },
  { flag: "kubeconfig", ...same },
  { flag: "leader-election", takes: "nothing", ...noLeader },
  { flag: "leader-election-lease-duration", ...noLeader },
  // No host leads. While upstream's leader renews this lease, hosts stand by.
  { flag: "leader-election-lock-name", is: "setting", name: "leases" },
  { flag: "leader-election-lock-namespace", ...noLeader },
  { flag: "leader-election-renew-deadline", ...noLeader },
  { flag: "leader-election-retry-period", ...noLeader },
  { flag: "max-tracked-executor-per-app", ...same },
  { flag: "metric-tls-cipher-suites", ...oneDoor },
  { flag: "metric-tls-min-version", ...oneDoor },
  { flag: "metrics-bind-address", ...oneDoor },
  { flag: "metrics-endpoint", ...oneDoor },
  { flag: "metrics-job-start-latency-buckets", ...same },
  { flag: "metrics-job-submit-latency-buckets", ...same },
  { flag: "metrics-labels", ...same },
  { flag: "metrics-prefix", ...same },
  { flag: "namespace-selector", ...same },
  { flag: "namespaces", ...same },
  { flag: "pprof-bind-address", ...ignored("to profile the process, start Node with --inspect") },
  {
    flag: "scheduled-spark-application-timestamp-precision",
    ...ignored("the name of a run has its scheduled time, with the precision that fits into the name"),
  },
  {
    flag: "secure-metrics",
    takes: "nothing",
    ...plainMetrics,
  },
  { flag: "submitter-initial-backoff", ...noSubmitter },
  { flag: "submitter-max-retries", ...noSubmitter },
  { flag: "submitter-request-timeout", ...noSubmitter },
  { flag: "submitter-service-url", ...noSubmitter },
  { flag: "submitter-startup-timeout", ...noSubmitter },
  { flag: "submitter-tls-ca-file", ...noSubmitter },
  { flag: "submitter-tls-cert-file", ...noSubmitter },
  { flag: "submitter-tls-enabled", takes: "nothing", ...noSubmitter },
  { flag: "submitter-tls-key-file", ...noSubmitter },
  { flag: "workqueue-ratelimiter-bucket-qps", ...noLimiter },
  { flag: "workqueue-ratelimiter-bucket-size", ...noLimiter },
  { flag: "workqueue-ratelimiter-max-delay", ...noLimiter },
  ...logs,
];

/** Flags of the webhook. */
export const webhookRows: readonly Row[] = [
  { flag: "cache-sync-timeout", ...noCache },
  { flag: "controller-threads", ...ignored("admission has no queue; --concurrency limits the rest") },
  {
    flag: "enable-cert-manager",
    takes: "nothing",
    ...refused("mount cert-manager's Secret, and name the folder: --admission-certificates=DIR", "false"),
  },
  { flag: "enable-metrics", takes: "nothing", ...oneDoor },
  { flag: "enable-resource-quota-enforcement", takes: "nothing", is: "setting", name: "admissionQuota" },
  { flag: "health-probe-bind-address", ...oneDoor },
  { flag: "help", ...same },
  { flag: "kube-api-burst", ...noLimiter },
  { flag: "kube-api-qps", ...noLimiter },
  { flag: "kubeconfig", ...same },
  { flag: "label-selector-filter", is: "setting", name: "selector" },
  { flag: "leader-election", takes: "nothing", ...noLeader },
  { flag: "leader-election-lease-duration", ...noLeader },
  { flag: "leader-election-lock-name", ...noLeader },
  { flag: "leader-election-lock-namespace", ...noLeader },
  { flag: "leader-election-renew-deadline", ...noLeader },
  { flag: "leader-election-retry-period", ...noLeader },
  { flag: "metrics-bind-address", ...oneDoor },
  { flag: "metrics-endpoint", ...oneDoor },
  { flag: "metrics-labels", ...same },
  { flag: "metrics-prefix", ...same },
  { flag: "mutating-webhook-name", ...ownName },
  { flag: "namespaces", ...same },
  { flag: "secure-metrics", takes: "nothing", ...plainMetrics },
  { flag: "validating-webhook-name", ...ownName },
  { flag: "webhook-cert-dir", ...ownCertificate },
  { flag: "webhook-cert-name", ...ownCertificate },
  { flag: "webhook-key-name", ...ownCertificate },
  { flag: "webhook-port", is: "setting", name: "admissionListen", form: "0.0.0.0:{}" },
  { flag: "webhook-secret-name", ...ownSecret },
  { flag: "webhook-secret-namespace", ...ownSecret },
  { flag: "webhook-svc-name", is: "part", part: "name" },
  { flag: "webhook-svc-namespace", is: "part", part: "namespace" },
  { flag: "webhook-tls-cipher-suites", ...tls },
  { flag: "webhook-tls-min-version", ...tls },
  ...logs,
];

/** Returns upstream's flags without a setting of the same name, as options of the argument parser. */
export const upstreamOptions = (
  tables: readonly Row[],
): Readonly<Record<string, { readonly type: "string" | "boolean" }>> =>
  Object.fromEntries(
    tables
      .filter(({ is }) => is !== "same")
      .map(({ flag, takes }) => [flag, { type: takes === "nothing" ? "boolean" : "string" } as const]),
  );

export type FlagMeaning =
  | { readonly is: "written"; readonly name: SettingName; readonly value: string }
  | { readonly is: "part"; readonly part: Part; readonly value: string }
  | { readonly is: "note"; readonly text: string }
  | { readonly is: "problem"; readonly text: string }
  | { readonly is: "nothing" };

const setting = ({ name, words = {}, form = "{}" }: Extract<Row, { is: "setting" }>, value: string): FlagMeaning => {
  const level = name === "logLevel" && /^[1-9]\d*$/.test(value) ? "debug" : undefined;
  return { is: "written", name, value: form.replace("{}", level ?? words[value] ?? value) };
};

/** Returns whether a value has no effect. Upstream reads it as a list, so each part must be harmless. */
const isHarmless = (harmless: readonly string[], value: string): boolean =>
  value.split(",").every((part) => harmless.includes(part.trim()));

/** Returns the meaning of an upstream flag; undefined for an unknown flag, and for one with the name of a setting. */
export const understood = (
  flag: string,
  value: string | undefined,
  table: readonly Row[] = rows,
): FlagMeaning | undefined => {
  const row = table.find((one) => one.flag === flag);
  if (row === undefined || row.is === "same") return undefined;
  if (value === undefined && row.takes !== "nothing") return { is: "problem", text: `needs a value, e.g. --${flag}=…` };
  if (row.is === "setting") return setting(row, value ?? (row.takes === "nothing" ? "true" : ""));
  if (row.is === "part") return { is: "part", part: row.part, value: value ?? "" };
  if (row.is === "ignored") return { is: "note", text: `flag --${flag}: ignored: ${row.because}` };
  const isNothing = isHarmless(row.harmless, value ?? "true");
  return isNothing ? { is: "nothing" } : { is: "problem", text: row.because };
};

/** The subcommands of upstream's binary, which may stay before the flags. */
export const subcommands: readonly { readonly words: readonly string[]; readonly table: readonly Row[] }[] = [
  { words: ["controller", "start"], table: rows },
  { words: ["webhook", "start"], table: webhookRows },
];

/** The setting and the note of the subcommand `webhook start`. */
export const asWebhook = {
  name: "admission",
  note: "webhook start: runs as a host that serves admission, and runs applications like any other",
} as const;

const noLimiterOfVolcano = ignored("events are coalesced per object; --concurrency and --parallel limit the rest");
const onePool = ignored("all kinds share --concurrency");
const oneLogOfVolcano = ignored("logs are JSON, on standard output: --log-level");

const noShards = ignored(
  "Rekindle does not divide nodes among schedulers: NodeShards do not change until upstream's controllers run again",
);

const asUpstreamDoes = "groups of bare pods inherit only annotations and labels with volcano.sh/: remove the flag";

const inherits = (flag: string, ...harmless: readonly string[]): Row => ({
  flag,
  ...refused(asUpstreamDoes, ...harmless),
});

/** Log flags of klog, the same in every program that uses it. */
const klog: readonly Row[] = [
  ...["logtostderr", "alsologtostderr", "skip_headers", "skip_log_headers", "add_dir_header", "one_output"].map(
    (flag): Row => ({ flag, takes: "nothing", ...oneLogOfVolcano }),
  ),
  ...["log_dir", "log_file", "log_file_max_size", "log_backtrace_at", "log-flush-frequency"].map(
    (flag): Row => ({ flag, ...oneLogOfVolcano }),
  ),
  ...["stderrthreshold", "v", "vmodule"].map((flag): Row => ({ flag, ...oneLogOfVolcano })),
];

/** Flags of the controller manager in all its versions, by name. */
export const volcanoRows: readonly Row[] = [
  { flag: "ca-cert-file", ...oneDoor },
  {
    flag: "controllers",
    is: "refused",
    because: "Rekindle runs all of its controllers and cannot switch one off",
    harmless: ["", "*", "-hyperNode-controller", "-sharding-controller"],
  },
  {
    flag: "detection-period-of-dependson-task",
    ...ignored("Rekindle sees changes of dependencies by watches"),
  },
  { flag: "enable-healthz", takes: "nothing", ...oneDoor },
  { flag: "enable-metrics", takes: "nothing", ...oneDoor },
  { flag: "enable-node-event-trigger", takes: "nothing", ...noShards },
  {
    flag: "feature-gates",
    is: "refused",
    because: "Rekindle cannot switch these features off: remove gates that are not =true",
    harmless: [
      ...["", "VolcanoJobSupport=true", "QueueCommandSync=true", "WorkLoadSupport=true", "PriorityClass=true"],
      ...["CronVolcanoJobSupport=true", "CSIStorage=true", "CSIStorage=false", "ResourceTopology=true"],
      // Gates of the scheduler and the webhook server: the controllers ignore them.
      ...["SchedulingGatesQueueAdmission=true", "SchedulingGatesQueueAdmission=false"],
      ...["ResourceTopology=false", "PodDisruptionBudgetsSupport=true", "PodDisruptionBudgetsSupport=false"],
    ],
  },
  { flag: "healthz-address", ...oneDoor },
  { flag: "help", is: "same" },
  inherits("inherit-owner-annotation-prefixes", "volcano.sh/"),
  inherits("inherit-owner-annotations", "true"),
  inherits("inherit-owner-label-prefixes", "volcano.sh/"),
  inherits("inherit-owner-labels", "false"),
  inherits("inherit-pod-annotations", "true"),
  inherits("inherit-pod-labels", "true"),
  { flag: "kube-api-burst", ...noLimiterOfVolcano },
  { flag: "kube-api-qps", ...noLimiterOfVolcano },
  { flag: "kubeconfig", is: "same" },
  { flag: "leader-elect", takes: "nothing", ...noLeader },
  { flag: "leader-elect-lease-duration", ...noLeader },
  { flag: "leader-elect-renew-deadline", ...noLeader },
  { flag: "leader-elect-resource-lock", ...noLeader },
  // No host leads. While upstream's leader renews this lease, hosts stand by.
  { flag: "leader-elect-resource-name", is: "setting", name: "leases" },
  { flag: "leader-elect-resource-namespace", ...noLeader },
  { flag: "leader-elect-retry-period", ...noLeader },
  { flag: "listen-address", ...oneDoor },
  { flag: "lock-object-namespace", ...noLeader },
  { flag: "master", ...ignored("the kubeconfig or the pod's service account has the address of the API server") },
  {
    flag: "max-requeue-num",
    ...ignored(
      "errors of the API server never fail a job: Rekindle retries until they end, and shows them in the status",
    ),
  },
  { flag: "scheduler-configs", ...noShards },
  {
    flag: "scheduler-name",
    is: "refused",
    because: "only bare pods of the scheduler `volcano` get groups",
    harmless: ["volcano"],
  },
  { flag: "shard-sync-period", ...noShards },
  { flag: "sharding-configmap", ...noShards },
  { flag: "sharding-configmap-namespace", ...noShards },
  { flag: "tls-cert-file", ...oneDoor },
  { flag: "tls-private-key-file", ...oneDoor },
  { flag: "version", takes: "nothing", ...ignored("use rekindle --version") },
  { flag: "worker-threads", is: "setting", name: "concurrency" },
  ...["cronjob", "gc", "podgroup", "queue"].map((of): Row => ({ flag: `worker-threads-for-${of}`, ...onePool })),
  ...klog,
];
