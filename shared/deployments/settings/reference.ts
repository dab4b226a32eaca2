/**
 * The sentence of each setting, and its place in each kind of deployment or the reason why it has none there. Separate
 * from the table, so that functions do not bundle it.
 */
import {
  absentInFunctions,
  absentInHost,
  atPort,
  byLambda,
  byPod,
  choiceFor,
  consumed,
  hostOutsidePods,
  inProcess,
  keptWhole,
  mountsFolder,
  noPort,
  onlyInWindows,
  ownCaller,
  processFunctionsOnly,
  type Reference,
  switchFor,
  type Target,
} from "./absence.ts";
import { admissionReference } from "./admission-reference.ts";
import { pastReference } from "./past-reference.ts";
import { signInReference } from "./sign-in-reference.ts";
import type { SettingName } from "./table.ts";

export const reference: Readonly<Record<SettingName, Reference>> = {
  cluster: {
    form: "text",
    text: "alias of the cluster in message keys and logs; not its address",
    parameter: "Alias",
  },
  kubeconfig: {
    form: "text",
    text: "kubeconfig file; without it $KUBECONFIG, ~/.kube/config, or the pod's service account",
    ...hostOutsidePods,
  },
  context: {
    form: "text",
    text: "context of the kubeconfig; without it the current context",
    ...hostOutsidePods,
  },
  clusterRecord: {
    form: "secret",
    text: "the cluster's address and credentials for functions, as `rekindle cluster add` prints them; in-cluster: the pod's service account",
    parameter: "ClusterRecord",
    absent: { host: "it reads a kubeconfig, with every way to log in", functionsOverlay: byPod },
  },
  namespaces: {
    form: "list",
    text: "watched namespaces, separated by commas; empty: all namespaces",
    parameter: "Namespaces",
    value: "spark.jobNamespaces",
    valueOnly: true,
  },
  namespaceSelector: {
    form: "text",
    text: "label selector of further watched namespaces, e.g. spark=enabled",
    value: "spark.jobNamespaceSelector",
    valueOnly: true,
  },
  families: {
    form: "list",
    text: "families of kinds to run; `rekindle manifests --family` installs their CRDs and rights",
    value: "controller.families",
  },
  selector: {
    form: "text",
    text: "label selector of watched applications, e.g. team=data",
    parameter: "Selector",
  },
  checkpoints: {
    form: "text",
    text: "storage of records: Checkpoint objects in the application's namespace, or dynamodb://TABLE?region=REGION&keepDays=DAYS",
    parameter: "Checkpoints",
  },
  home: { form: "text", text: "namespace for records of queues and for watch cursors" },
  queue: {
    form: "choice",
    text: "the queue of keys: one inside the process, or the one at natsUrl",
    ...absentInFunctions("a function ends with its event, and a queue inside it would, too"),
  },
  fifoUrl: { form: "text", text: "URL of the FIFO queue for keys", made: true, ...absentInHost(inProcess) },
  delayUrl: { form: "text", text: "URL of the standard queue for timers", made: true, ...absentInHost(inProcess) },
  updatesUrl: {
    form: "text",
    text: "URL of the FIFO queue for status updates; without it no status updates are sent",
    made: true,
    ...absentInHost(inProcess),
  },
  natsUrl: { form: "list", text: "servers of NATS JetStream with the queue, e.g. nats://nats.example:4222" },
  natsCredentials: { form: "secret", text: "proof at NATS: a credentials file's text, an nkey's seed, or a token" },
  natsCaFile: { form: "text", text: "PEM file of the authority of NATS' certificates; without it Node's own" },
  natsPrefix: { form: "text", text: "first part of the names of streams; one for each cluster on a server" },
  callUrls: {
    form: "list",
    text: "URLs at which the dispatcher calls functions: reconcile=URL,deliver=URL",
    absent: { host: ownCaller, sam: byLambda },
  },
  callSecret: {
    form: "secret",
    text: "authentication of the dispatcher's calls: a secret that signs them, a token, or the URL of a metadata server that issues tokens; functions accept several secrets, one per line, or callers as JSON",
    ...absentInHost(ownCaller),
  },
  newsWaitMs: {
    form: "duration",
    text: "longest time that news which decides nothing waits for other news of its key, so that one step tells of both: executors that a driver creates; for those that start or end a fifth of it, for those that are gone a fiftieth. 0s: it waits no longer than other news",
  },
  windowMs: {
    form: "duration",
    text: "duration of one watch of the forward function; the watch ends 10 s before the function's time limit",
    parameter: "ForwardWindow",
    ...onlyInWindows,
  },
  concurrency: {
    form: "count",
    unit: "keys",
    text: "keys of one namespace that a host, or a process that polls a queue, processes at once; a third as many more places are for other namespaces",
    value: "controller.workers",
    absent: { sam: "Lambda hands each function one batch at a time; the parameter Concurrency bounds the functions" },
  },
  maxSubmissions: {
    form: "count",
    unit: "submissions",
    text: "concurrent submissions per process; further ones wait in order of arrival",
  },
  namespaceWeights: {
    form: "list",
    text: "weights of namespaces, e.g. team-a=4,team-b=2; others have weight 1. Host: number of keys that a namespace may process per turn. Functions: share of step time before a namespace gives way to others while messages wait long",
  },
  parallel: { form: "count", unit: "writes", text: "concurrent writes within one step" },
  resyncMs: {
    form: "duration",
    text: "period of the resync, which reconciles every object without an event",
    absent: { sam: "a schedule calls resync: the parameter ResyncEvery" },
  },
  stepMs: { form: "duration", text: "time limit of one step" },
  fenceMs: { form: "duration", text: "fence: latest start of a write after its record was saved" },
  timeoutMs: { form: "duration", text: "time limit of one request" },
  strict: switchFor(
    "true: an unreadable record stops its application; false: Rekindle keeps the readable part and rebuilds the rest",
  ),
  reconfigurationPolicy: choiceFor("how fence and timeout may change while records exist: only up, not at all, freely"),
  reregistrationMs: {
    form: "duration",
    text: "after a recovery, time in which missing pods may reappear before they count as lost",
  },
  ...pastReference,
  listen: {
    form: "text",
    text: "listen address of the HTTP endpoint: health, metrics, triggers, page",
    absent: { helm: atPort, hostOverlay: atPort, functionsOverlay: atPort, sam: noPort },
  },
  tlsCertFile: {
    form: "text",
    text: "TLS certificate file of a function that runs as an HTTP server",
    ...processFunctionsOnly,
  },
  tlsKeyFile: {
    form: "text",
    text: "key file of that certificate",
    ...processFunctionsOnly,
  },
  tlsClientCaFile: {
    form: "text",
    text: "CA file for client certificates, which are then required; submitter needs it if other processes can reach its address",
    ...processFunctionsOnly,
  },
  triggerSecret: {
    form: "secret",
    text: "callers that may send triggers and read state: one signing secret, several secrets, one per line, or callers as JSON; empty: no caller",
    parameter: "TriggerSecret",
  },
  ...signInReference,
  logLevel: { form: "choice", text: "minimum log level", value: "controller.logLevel" },
  recordDecisions: choiceFor(
    "which decisions are recorded in the log for rekindle replay: those about objects that rekindle record has annotated, all, or none; at most 2 MiB a minute for a namespace and 8 MiB in total",
  ),
  stateDirectory: {
    form: "text",
    text: "folder of this host that survives restarts; it stores which object's decision was running when the process died",
    absent: {
      functions: "the queue counts how often a message was delivered",
      helm: mountsFolder,
      hostOverlay: mountsFolder,
    },
  },
  dryRun: { form: "switch", text: "decide and print plans without any write", ...absentInFunctions(consumed) },
  output: {
    form: "choice",
    text: "output of a dry run: a diff, or one JSON object per line",
    ...absentInFunctions(consumed),
  },
  takeOver: { form: "switch", text: "write even if another controller of these kinds runs" },
  coexist: { form: "switch", text: "run beside another controller that watches other namespaces" },
  ...admissionReference,
  leases: { form: "list", text: "leases of other controllers; empty: no detection by lease" },
  controllerNamespaces: { form: "list", text: "namespaces of administrators: signs of other controllers count there" },
  gang: choiceFor(
    "which component admits PodGroups: Volcano's scheduler, none (Rekindle admits them), auto (Volcano's scheduler if one is found, otherwise Rekindle), builtin (Rekindle, when the whole minimum of a Job's PodGroup, or driver and initial executors of a Spark application, fit the nodes; with places reserved for the pods; needs --features gang), or native (as builtin, but default-scheduler of Kubernetes 1.37 binds the pods of Jobs together, where its gangs are switched on and can say what a Job asks for; needs --features gang,gang-native)",
  ),
  gangEvict: choiceFor(
    "with gang builtin, whose pods are evicted for a group that lacks room: none, preempt (groups of its queue with a lower priority), reclaim (groups of queues that have more than they deserve, for a queue that has less), or all (needs --features gang-evict)",
  ),
  queueCommandNamespaces: {
    form: "list",
    text: "namespaces whose Commands may open and close queues; *: all, as upstream; vcctl creates Commands in default",
  },
  updatesTo: {
    form: "text",
    text: "listener of status updates for objects whose annotations and namespace name none",
    parameter: "UpdatesTo",
  },
  updatesQueues: {
    form: "list",
    text: "SQS queues that namespaces may name as listeners: URLs or ARNs, separated by commas; empty: none",
  },
  updatesHosts: {
    form: "list",
    text: "host names that status updates may be sent to, separated by commas; .example.com includes its subdomains; empty: any public host",
  },
  updatesAllowPrivate: {
    form: "switch",
    text: "allow status updates to private addresses and over plain HTTP",
  },
  updatesSecret: {
    form: "secret",
    text: "secret from which the key of each listener is derived; the key signs its status updates; without it they are not signed. Steps and deliveries prove with it that the updates in a record are their own",
    parameter: "UpdatesSecret",
  },
  sparkVersion: {
    form: "text",
    text: "Spark version for images whose tag has no version; for submissions on behalf of another operator",
    ...absentInHost("a host submits only for itself, and an application names its version"),
  },
  enableUiService: {
    form: "switch",
    text: "create a Service for the web UI of every driver",
    value: "controller.uiService.enable",
  },
  ingressUrlFormat: {
    form: "text",
    text: "create an Ingress for the web UI with this URL, e.g. {{$appName}}.example.com or example.com/{{$appName}}",
    value: "controller.uiIngress.urlFormat",
  },
  ingressClassName: {
    form: "text",
    text: "ingress class of created Ingresses",
    value: "controller.uiIngress.ingressClassName",
  },
  uiGateway: {
    form: "text",
    text: "Gateway of the Gateway API, as NAMESPACE/NAME or NAMESPACE/NAME/LISTENER: HTTPRoutes at it stand in the place of Ingresses",
  },
  connectHostFormat: {
    form: "text",
    text: "host of Connect servers for clients outside of the cluster, e.g. {{$appName}}.connect.example.com: creates a GRPCRoute with uiGateway, else an Ingress that speaks gRPC",
  },
  ingressAnnotations: {
    form: "JSON",
    text: "JSON: default annotations of Ingresses",
    value: "controller.uiIngress.annotations",
  },
  ingressTls: {
    form: "JSON",
    text: "JSON: default TLS of Ingresses",
    value: "controller.uiIngress.tls",
  },
  enableBatchScheduler: {
    form: "switch",
    text: "create the objects that an application's batch scheduler needs, such as PodGroups",
    value: "controller.batchScheduler.enable",
  },
  defaultBatchScheduler: {
    form: "text",
    text: "default batch scheduler of applications",
    value: "controller.batchScheduler.default",
  },
  kubeSchedulerNames: {
    form: "list",
    text: "names of schedulers with the coscheduling plugin, separated by commas; their applications get its PodGroups",
    value: "controller.batchScheduler.kubeSchedulerNames",
  },
  enableDriverPdb: {
    form: "switch",
    text: "create a PodDisruptionBudget for drivers whose application requests one",
    value: "controller.driverPodDisruptionBudget",
  },
  defaultTimeToLiveSeconds: {
    form: "count",
    unit: "seconds",
    text: "default timeToLiveSeconds of ended applications; 0: they are kept",
    value: "controller.defaultTimeToLiveSeconds",
  },
  partialRestart: switchFor(
    "with `rekindle.dev/executors: own`, a change of only the executors' priority class, node selector, tolerations, affinity or scheduler begins no new run; executors that are created later have it",
  ),
  sparkDefaults: {
    form: "JSON",
    text: "JSON: confs for each SparkApplication and SparkConnect, below those that it sets, such as those of event logs",
    value: "controller.sparkDefaults",
  },
  maxTrackedExecutorPerApp: {
    form: "count",
    unit: "executors",
    text: "maximum number of executors in an application's status: ended ones leave it first, and all that live stay, up to 10,000",
    value: "controller.maxTrackedExecutorPerApp",
  },
  apacheOperatorName: {
    form: "text",
    text: "of `spark.apache.org`: the value of the label `spark.operator/name`, as `spark.kubernetes.operator.name` of Apache's operator",
  },
  apacheTrimsHistory: switchFor(
    "of `spark.apache.org`: when an attempt restarts, its history moves to `previousAttemptSummary`, as with `trimStateTransitionHistoryEnabled` of Apache's operator",
  ),
  metricsPrefix: {
    form: "text",
    text: "prefix of the names of application metrics, followed by an underscore",
    value: "prometheus.metrics.prefix",
  },
  metricsLabels: {
    form: "list",
    text: "labels of applications that become labels of their metrics, or `namespace`; Unknown if an application lacks the label",
    value: "prometheus.metrics.labels",
  },
  metricsJobSubmitLatencyBuckets: {
    form: "list",
    unit: "seconds",
    text: "histogram buckets of the time from an application's creation to its submission, in increasing order",
    value: "prometheus.metrics.jobSubmitLatencyBuckets",
    ...absentInFunctions(keptWhole),
  },
  metricsJobStartLatencyBuckets: {
    form: "list",
    unit: "seconds",
    text: "histogram buckets of the time from an application's creation to its start, in increasing order",
    value: "prometheus.metrics.jobStartLatencyBuckets",
    ...absentInFunctions(keptWhole),
  },
  watchNodes: switchFor(
    "watch nodes: executors on a node that is deleted without notice are replaced at once, not when Kubernetes deletes their pods after about a minute; needs list and watch of nodes (`rekindle manifests --nodes`)",
  ),
  gauges: switchFor(
    "the objects are counted for gauges: at each scrape of /metrics of a host or dispatcher, and by resync for CloudWatch, which bills each set of labels as a metric",
  ),
  metricsFor: choiceFor("whom /metrics answers; usual: callers with read in the function api, anybody elsewhere"),
  prices: {
    form: "JSON",
    text: 'JSON: prices per core-hour and GiB-hour, shown on the page, by `rekindle list -o wide` and in metrics: {"currency": "US$", "core": 0.04, "gib": 0.005, "nodes": [{"labels": {"karpenter.sh/capacity-type": "spot"}, "core": 0.012, "gib": 0.0015}]}; the first entry of nodes whose labels a node has is its price; empty: no money is shown',
  },
};

/** The mode of each kind of deployment. */
const modeOf: Readonly<Record<Target, "host" | "functions">> = {
  host: "host",
  helm: "host",
  hostOverlay: "host",
  functions: "functions",
  sam: "functions",
  functionsOverlay: "functions",
};

/** Returns the reason why a setting has no place in a deployment; undefined: it has one. */
export const reasonOf = (name: SettingName, target: Target): string | undefined => {
  return reference[name].absent?.[target] ?? reference[name].absent?.[modeOf[target]];
};
