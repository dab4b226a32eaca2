/** The flags of Volcano's controller manager, and the handling of each here, for a migration from its Deployment. */
import { ignored, noLeader, oneDoor, type Row, refused } from "./upstream-flags.ts";

const noLimiter = ignored("bursts are coalesced per object; --concurrency and --parallel bound the rest");
const onePool = ignored("all kinds share --concurrency");
const oneLog = ignored("logs are JSON, on standard output: --log-level");

const noShards = ignored(
  "nodes are not divided among schedulers: NodeShards stay as they are while upstream's controllers are away",
);

const asUpstreamDoes = "groups of bare pods take annotations and labels with volcano.sh/ only: leave it out";

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
    because: "all of its controllers are here at once: one that is switched off cannot be left out",
    harmless: ["", "*", "-hyperNode-controller", "-sharding-controller"],
  },
  {
    flag: "detection-period-of-dependson-task",
    ...ignored("what a task depends on is seen as it happens"),
  },
  { flag: "enable-healthz", takes: "nothing", ...oneDoor },
  { flag: "enable-metrics", takes: "nothing", ...oneDoor },
  { flag: "enable-node-event-trigger", takes: "nothing", ...noShards },
  {
    flag: "feature-gates",
    is: "refused",
    because: "what its gates switch off is on here: leave out what is not =true",
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
  { flag: "master", ...ignored("the kubeconfig, or the pod's own account, says where the API server is") },
  {
    flag: "max-requeue-num",
    ...ignored("the API's trouble never ends a job: it is tried again for as long as it lasts, and told"),
  },
  { flag: "scheduler-configs", ...noShards },
  {
    flag: "scheduler-name",
    is: "refused",
    because: "bare pods of the scheduler `volcano` get groups, and no others",
    harmless: ["volcano"],
  },
  { flag: "shard-sync-period", ...noShards },
  { flag: "sharding-configmap", ...noShards },
  { flag: "sharding-configmap-namespace", ...noShards },
  { flag: "tls-cert-file", ...oneDoor },
  { flag: "tls-private-key-file", ...oneDoor },
  { flag: "version", takes: "nothing", ...ignored("rekindle --version says it") },
  { flag: "worker-threads", is: "setting", name: "concurrency" },
  ...["cronjob", "gc", "podgroup", "queue"].map((of): Row => ({ flag: `worker-threads-for-${of}`, ...onePool })),
  ...klog,
];
