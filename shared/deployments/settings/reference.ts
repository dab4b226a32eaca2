/**
 * The documentation of each setting: its sentence, and its place in each kind of deployment or the reason why it has
 * none there. Separate from the table, so that functions do not bundle it.
 */
import type { SettingName } from "./table.ts";

/** A mode, or one kind of deployment of it, in which a setting may be missing. */
export type Target = "host" | "functions" | "helm" | "hostOverlay" | "sam" | "functionsOverlay";

export type Reference = {
  readonly text: string;
  readonly form: "text" | "duration" | "count" | "switch" | "choice" | "list" | "JSON" | "secret";
  /** The unit that a number counts. */
  readonly unit?: string;
  /** The template's parameter; absent: the document in its parameter `Settings`. */
  readonly parameter?: string;
  /** True: the template creates the resource that the setting names. */
  readonly made?: true;
  /** The path in the chart's values with the same meaning. */
  readonly value?: string;
  /** True: the chart uses that value for more than a variable, so `settings` has no such name. */
  readonly valueOnly?: true;
  readonly absent?: Readonly<Partial<Record<Target, string>>>;
};

const byPod = "a pod has its own account, which this would only replace";
const atPort = "its objects carry the port, so another one is a change of the objects";
const asCertificate = "its objects carry names and ports of admission, so another one is a change of the objects";
const noPort = "Lambda calls a function without a port";
const inProcess = "its queue is inside the process";
const consumed = "a function answers for the messages that it is given: what it only looked at would be lost";
const asFunction = "admission is a function of its own there, which the deployer registers";
const byFlag = "rekindle manifests --admission makes the objects that it needs";
const ownPlace = "the api function's own door, or whatever stands before it, ends TLS";
const keptWhole = "functions report each duration by itself, so percentiles need no buckets";
const withoutLogin = "a function starts without a file or a login program: it takes the flat clusterRecord";
const mountsFolder = "its objects mount the folder, so another one is a change of the objects";
const plainDoor = "its door is plain HTTP on a private address: put a proxy in front";
const ownCaller = "its steps run in its own process";
const byLambda = "SQS calls the functions of the template";

const absentInFunctions = (reason: string) => ({ absent: { functions: reason } });
const absentInHost = (reason: string) => ({ absent: { host: reason } });
const hostOutsidePods = { absent: { functions: withoutLogin, helm: byPod } };
const processFunctionsOnly = { absent: { host: plainDoor, sam: noPort, functionsOverlay: ownPlace } };
const hostByFlags = { absent: { functions: asFunction, helm: asCertificate, hostOverlay: byFlag } };

export const reference: Readonly<Record<SettingName, Reference>> = {
  cluster: {
    form: "text",
    text: "alias of the cluster in keys and logs; never an endpoint",
    parameter: "Alias",
  },
  kubeconfig: {
    form: "text",
    text: "file that says how to reach the cluster; else $KUBECONFIG, ~/.kube/config, or the pod's own",
    ...hostOutsidePods,
  },
  context: {
    form: "text",
    text: "context of the kubeconfig; else its current one",
    ...hostOutsidePods,
  },
  clusterRecord: {
    form: "secret",
    text: "the flat record by which functions reach the cluster, as rekindle cluster add makes it, or in-cluster",
    parameter: "ClusterRecord",
    absent: { host: "it reads a kubeconfig, with every way to log in", functionsOverlay: byPod },
  },
  namespaces: {
    form: "list",
    text: "namespaces to look after, separated by commas; none means all",
    parameter: "Namespaces",
    value: "spark.jobNamespaces",
    valueOnly: true,
  },
  namespaceSelector: {
    form: "text",
    text: "look after namespaces with these labels, besides those that are named, e.g. spark=enabled",
    value: "spark.jobNamespaceSelector",
    valueOnly: true,
  },
  families: {
    form: "list",
    text: "families of kinds to run: those whose CRDs and rights rekindle manifests --family installs",
    value: "controller.families",
  },
  selector: {
    form: "text",
    text: "look after applications with these labels only, e.g. team=data",
    parameter: "Selector",
  },
  checkpoints: {
    form: "text",
    text: "where records are kept: as objects beside each application, or dynamodb://TABLE with region and keepDays after a ?",
    parameter: "Checkpoints",
  },
  home: { form: "text", text: "namespace of records and cursors that belong to no other namespace" },
  queue: {
    form: "choice",
    text: "what carries the keys: a queue inside the process",
    ...absentInFunctions("a function ends with its event, and a queue inside it would, too"),
  },
  fifoUrl: { form: "text", text: "URL of the FIFO queue for keys", made: true, ...absentInHost(inProcess) },
  delayUrl: {
    form: "text",
    text: "URL of the standard queue for timers",
    made: true,
    ...absentInHost(inProcess),
  },
  updatesUrl: {
    form: "text",
    text: "URL of the FIFO queue for status updates; without it there are none",
    made: true,
    ...absentInHost(inProcess),
  },
  callUrls: {
    form: "list",
    text: "URLs at which the dispatcher calls functions: reconcile=URL,deliver=URL",
    absent: { host: ownCaller, sam: byLambda },
  },
  callSecret: {
    form: "secret",
    text: "the proof of the dispatcher's calls: a secret that signs, a token, or the URL of a metadata server that gives tokens; in functions also several secrets, a line each, or callers as JSON",
    ...absentInHost(ownCaller),
  },
  windowMs: {
    form: "duration",
    text: "how long a call of forward watches; it ends 10 s before the function's time",
    parameter: "ForwardWindow",
    absent: {
      host: "it watches all the time",
      functionsOverlay: "forward is a process there, and watches all the time",
    },
  },
  concurrency: {
    form: "count",
    unit: "keys",
    text: "keys in work at once, of a host or of one process that polls a queue",
    value: "controller.workers",
    absent: { sam: "Lambda hands each function one batch at a time; the parameter Concurrency bounds the functions" },
  },
  maxSubmissions: {
    form: "count",
    unit: "submissions",
    text: "submissions of one process under way at once; more wait, in their order",
  },
  namespaceWeights: {
    form: "list",
    text: "share of a namespace beside others, e.g. team-a=4,team-b=2; 1 where none is named. In a host: keys in one turn; in functions: the time that its steps take for each time that it gives way while messages wait long",
  },
  parallel: { form: "count", unit: "writes", text: "writes in flight at once within one step" },
  resyncMs: {
    form: "duration",
    text: "how often everything is looked at again, event or not",
    absent: { sam: "a schedule calls resync: the parameter ResyncEvery" },
  },
  stepMs: { form: "duration", text: "a step leaves before this" },
  fenceMs: { form: "duration", text: "no write starts later than this after the save that planned it" },
  timeoutMs: { form: "duration", text: "longest time for one request" },
  strict: {
    form: "switch",
    text: "a record that cannot be read stops its application; false: what can be read of it is kept",
  },
  reconfigurationPolicy: {
    form: "choice",
    text: "what fence and timeout may do under existing records: only grow, nothing, or anything",
  },
  reregistrationMs: {
    form: "duration",
    text: "after a recovery, what is missing may take so long to come back before it counts as lost",
  },
  keepRuns: { form: "count", unit: "runs", text: "ended runs kept in an application's record" },
  keepRunsForMs: { form: "duration", text: "how long they are kept" },
  listen: {
    form: "text",
    text: "where health, triggers and what else is served over HTTP are served",
    absent: { helm: atPort, hostOverlay: atPort, functionsOverlay: atPort, sam: noPort },
  },
  tlsCertFile: {
    form: "text",
    text: "certificate of a function that serves HTTP as a process",
    ...processFunctionsOnly,
  },
  tlsKeyFile: {
    form: "text",
    text: "key of that certificate",
    ...processFunctionsOnly,
  },
  tlsClientCaFile: {
    form: "text",
    text: "clients must show a certificate of this authority; submitter needs it wherever others reach it",
    ...processFunctionsOnly,
  },
  triggerSecret: {
    form: "secret",
    text: "who may send triggers and read: a secret that signs, several of them, a line each, or callers as JSON; without it nobody may",
    parameter: "TriggerSecret",
  },
  logLevel: { form: "choice", text: "least level that is logged", value: "controller.logLevel" },
  stateDirectory: {
    form: "text",
    text: "folder of this host alone that outlives its restarts: which object a decision died of is kept there",
    absent: {
      functions: "the queue counts how often a message was delivered",
      helm: mountsFolder,
      hostOverlay: mountsFolder,
    },
  },
  dryRun: { form: "switch", text: "decide and print plans, write nothing", ...absentInFunctions(consumed) },
  output: {
    form: "choice",
    text: "how a dry run tells its plans: as a diff, or in lines of JSON",
    ...absentInFunctions(consumed),
  },
  takeOver: { form: "switch", text: "write although another controller of these kinds seems alive" },
  coexist: { form: "switch", text: "run beside another controller whose namespaces are different ones" },
  admission: {
    form: "switch",
    text: "serve admission webhooks over HTTPS, and register them with the API server",
    value: "webhook.enable",
    valueOnly: true,
    absent: { functions: asFunction, hostOverlay: byFlag },
  },
  admissionListen: {
    form: "text",
    text: "where admission is served",
    ...hostByFlags,
  },
  admissionReach: {
    form: "text",
    text: "how the API server calls admission: a Service as NAMESPACE/NAME[:PORT], or an https:// URL",
    ...hostByFlags,
  },
  admissionSecret: {
    form: "text",
    text: "Secret in which replicas share the certificate that they make and renew",
    ...hostByFlags,
  },
  admissionCertificates: {
    form: "text",
    text: "folder with tls.crt, tls.key and ca.crt that somebody else keeps current; then no Secret is used",
    absent: { functions: "a function takes tlsCertFile and tlsKeyFile", hostOverlay: byFlag },
  },
  admissionPath: {
    form: "secret",
    text: "admission answers under this first part of the path alone; without it at /mutate and /validate",
    parameter: "AdmissionPath",
    ...absentInHost("only the API server reaches its admission, with a certificate of its own"),
  },
  admissionQuota: {
    form: "switch",
    text: "admission refuses SparkApplications that exceed a ResourceQuota, as upstream counts them",
    value: "webhook.resourceQuotaEnforcement.enable",
    valueOnly: true,
  },
  admissionQueueGate: {
    form: "switch",
    text: "admission gates pods annotated scheduling.volcano.sh/queue-allocation-gate until their queue has room, for a Volcano scheduler with SchedulingGatesQueueAdmission",
    value: "webhook.queueGate",
  },
  admissionResourceGroups: {
    form: "JSON",
    text: "JSON: the resourceGroups of Volcano's volcano-admission.conf, which admission writes into their pods",
    value: "webhook.resourceGroups",
  },
  leases: { form: "list", text: "leader leases that tell of another controller; empty: nobody is looked for" },
  gang: {
    form: "choice",
    text: "who lets Volcano's groups of pods in: its scheduler, none (then Rekindle does), or auto: whoever is found to",
  },
  queueCommandNamespaces: {
    form: "list",
    text: "namespaces from which Commands for queues are obeyed; * as upstream, from all; default is where vcctl makes them",
  },
  updatesTo: {
    form: "text",
    text: "who is told of changes of state where neither object nor namespace names somebody",
    parameter: "UpdatesTo",
  },
  updatesQueues: {
    form: "list",
    text: "SQS queues that namespaces may name as listeners, as URLs or ARNs separated by commas; none means none",
  },
  updatesHosts: {
    form: "list",
    text: "hosts that may be told, separated by commas, .example.com with all below it; none means any",
  },
  updatesAllowPrivate: {
    form: "switch",
    text: "tell also hosts at addresses of private networks, and over plain HTTP",
  },
  updatesSecret: {
    form: "secret",
    text: "the secret that listeners' keys are made of, which sign status updates; without it they are not signed",
    parameter: "UpdatesSecret",
  },
  sparkVersion: {
    form: "text",
    text: "whose rules hold for images whose tag tells no version, where submitter submits for another operator",
    ...absentInHost("it submits for itself, and an application names its version"),
  },
  enableUiService: {
    form: "switch",
    text: "a Service of the web UI beside every driver",
    value: "controller.uiService.enable",
  },
  ingressUrlFormat: {
    form: "text",
    text: "an Ingress of the web UI at this URL, e.g. {{$appName}}.example.com or example.com/{{$appName}}",
    value: "controller.uiIngress.urlFormat",
  },
  ingressClassName: {
    form: "text",
    text: "class of the ingresses that are made",
    value: "controller.uiIngress.ingressClassName",
  },
  ingressAnnotations: {
    form: "JSON",
    text: "JSON: annotations of ingresses whose application gives none",
    value: "controller.uiIngress.annotations",
  },
  ingressTls: {
    form: "JSON",
    text: "JSON: TLS of ingresses whose application gives none",
    value: "controller.uiIngress.tls",
  },
  enableBatchScheduler: {
    form: "switch",
    text: "make what the batch scheduler of an application needs",
    value: "controller.batchScheduler.enable",
  },
  defaultBatchScheduler: {
    form: "text",
    text: "batch scheduler of applications that name none",
    value: "controller.batchScheduler.default",
  },
  kubeSchedulerNames: {
    form: "list",
    text: "schedulers with the coscheduling plugin, separated by commas: they get its PodGroups",
    value: "controller.batchScheduler.kubeSchedulerNames",
  },
  enableDriverPdb: {
    form: "switch",
    text: "a PodDisruptionBudget for drivers whose application asks for one",
    value: "controller.driverPodDisruptionBudget",
  },
  defaultTimeToLiveSeconds: {
    form: "count",
    unit: "seconds",
    text: "delete ended applications that say nothing of it after so many seconds; 0 keeps them",
    value: "controller.defaultTimeToLiveSeconds",
  },
  maxTrackedExecutorPerApp: {
    form: "count",
    unit: "executors",
    text: "executors that a status tells of",
    value: "controller.maxTrackedExecutorPerApp",
  },
  metricsPrefix: {
    form: "text",
    text: "stands before the names of applications' figures, with an underscore",
    value: "prometheus.metrics.prefix",
  },
  metricsLabels: {
    form: "list",
    text: "labels of applications by which their figures are told apart, or `namespace`; Unknown where absent",
    value: "prometheus.metrics.labels",
  },
  metricsJobSubmitLatencyBuckets: {
    form: "list",
    unit: "seconds",
    text: "buckets of the time from an application's creation to its submission, increasing",
    value: "prometheus.metrics.jobSubmitLatencyBuckets",
    ...absentInFunctions(keptWhole),
  },
  metricsJobStartLatencyBuckets: {
    form: "list",
    unit: "seconds",
    text: "buckets of the time from an application's creation to its start, increasing",
    value: "prometheus.metrics.jobStartLatencyBuckets",
    ...absentInFunctions(keptWhole),
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
  const { absent = {} } = reference[name];
  return absent[target] ?? absent[modeOf[target]];
};
