/** The flags of Volcano's controller manager, and the handling of each here, for a migration from its Deployment. */
import { ignored, noLeader, oneDoor, type Row, refused } from "./upstream-flags.ts";

const noLimiter = ignored("events are coalesced per object; --concurrency and --parallel limit the rest");
const onePool = ignored("all kinds share --concurrency");
const oneLog = ignored("logs are JSON, on standard output: --log-level");

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
    (flag): Row => ({ flag, takes: "nothing", ...oneLog }),
  ),
  ...["log_dir", "log_file", "log_file_max_size", "log_backtrace_at", "log-flush-frequency"].map(
    (flag): Row => ({ flag, ...oneLog }),
  ),
  ...["stderrthreshold", "v", "vmodule"].map((flag): Row => ({ flag, ...oneLog })),
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
  { flag: "kube-api-burst", ...noLimiter },
  { flag: "kube-api-qps", ...noLimiter },
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
