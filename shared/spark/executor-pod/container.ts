/**
 * The executor pod's frame: name, labels, image, amounts, variables; as Spark's BasicExecutorFeatureStep. Cores and
 * memory are those of Spark's default resource profile; the variables of the container are in Spark's order (of two
 * with one name the later wins), with the options of its JVM.
 */
import type { Json } from "../../kube/responses.ts";
import { below, type Conf, countOf, flagOf, listOf, mebibytesIn, ratioIn, type Texts } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";
import { type Container, type PodMetadata, type PodSpec, type SparkPod, withVolume } from "../submission/pods/pod.ts";
import { gpusOf, ports, shieldOf } from "../submission/steps/basic.ts";
import { driverReference, type ExecutorContext } from "./request.ts";

type Amounts = {
  readonly cores: number;
  /** MiB. */
  readonly heap: number;
  /** MiB, all of the container. */
  readonly memory: number;
};

const defaultHeap = 1024;
const defaultOverhead = 384;
const defaultFactor = 0.1;

/** The conf that sets the memory overhead, whatever the factor is. */
export const overheadConf = "spark.executor.memoryOverhead";

const overheadOf = (conf: Conf, rules: Rules, heap: number): number => {
  const factor =
    ratioIn(conf, "spark.executor.memoryOverheadFactor") ??
    ratioIn(conf, "spark.kubernetes.memoryOverheadFactor") ??
    defaultFactor;
  const least = rules.minOverheadConf ? mebibytesIn(conf, "spark.executor.minMemoryOverhead") : undefined;
  return mebibytesIn(conf, overheadConf) ?? Math.max(Math.trunc(factor * heap), least ?? defaultOverhead);
};

/** The memory overhead of an executor by its confs, MiB. */
export const overheadIn = (conf: Conf, rules: Rules): number =>
  overheadOf(conf, rules, mebibytesIn(conf, "spark.executor.memory") ?? defaultHeap);

const bytesInMebibyte = 2 ** 20;

/** The off-heap memory in MiB; a size without unit counts bytes. */
const offHeapOf = (conf: Conf): number => {
  if (!flagOf(conf, "spark.memory.offHeap.enabled")) return 0;
  const text = conf.get("spark.memory.offHeap.size") ?? "0";
  return /^\d+$/.test(text.trim())
    ? Math.floor(Number(text) / bytesInMebibyte)
    : (mebibytesIn(conf, "spark.memory.offHeap.size") ?? 0);
};

const pythonOf = (conf: Conf): number =>
  conf.get("spark.kubernetes.resource.type") === "python"
    ? (mebibytesIn(conf, "spark.executor.pyspark.memory") ?? 0)
    : 0;

const amountsOf = (conf: Conf, rules: Rules): Amounts => {
  const heap = mebibytesIn(conf, "spark.executor.memory") ?? defaultHeap;
  const memory = heap + overheadOf(conf, rules, heap) + offHeapOf(conf) + pythonOf(conf);
  return { cores: countOf(conf, "spark.executor.cores", 1), heap, memory };
};

/** A word of a command line: quotes keep spaces; within double quotes a backslash escapes the next character. */
const word = /(?:[^\s"']|"(?:\\[\s\S]|[^"\\])*(?:"|$)|'[^']*(?:'|$))+/g;

const unquoted = (text: string): string =>
  text.replace(/"((?:\\[\s\S]|[^"\\])*)(?:"|$)|'([^']*)(?:'|$)/g, (_, double?: string, single?: string) =>
    double === undefined ? (single ?? "") : double.replace(/\\([\s\S])/g, "$1"),
  );

/** Splits a command line into words as Spark does. */
export const splitCommand = (text: string): readonly string[] => (text.match(word) ?? []).map(unquoted);

/** Confs that an executor needs to reach its driver at all. */
const isStartup = (key: string): boolean =>
  (key.startsWith("spark.auth") && key !== "spark.authenticate.secret") ||
  key.startsWith("spark.rpc") ||
  key.startsWith("spark.network") ||
  (key.startsWith("spark.") && key.endsWith(".port")) ||
  key.startsWith("spark.port.");

const isTls = (key: string): boolean => key.startsWith("spark.ssl") && !key.includes("Password");

type Named = {
  readonly conf: Conf;
  /** The confs as written: the executor resolves their references itself. */
  readonly written: Conf;
  readonly rules: Rules;
  readonly applicationId: string;
  readonly executorId: string;
};

/** The options in the order of the command line: of two that contradict each other the later wins. */
export const javaOptions = ({ conf, written, rules, applicationId, executorId }: Named): readonly string[] => {
  const users = ["spark.executor.defaultJavaOptions", "spark.executor.extraJavaOptions"].map(
    (key) => conf.get(key) ?? "",
  );
  const [first = "", last = ""] = users.map((text) =>
    splitCommand(text.replaceAll("{{APP_ID}}", applicationId).replaceAll("{{EXECUTOR_ID}}", executorId)),
  );
  const own = ["-Djava.net.preferIPv6Addresses=false", ...rules.executors.javaOptions];
  const startup = [...written]
    .filter(([key]) => isStartup(key) || (rules.executors.tlsAndLogs && isTls(key)))
    .map(([key, value]) => `-D${key}=${value}`);
  return [...first, ...own, ...last, ...startup];
};

const bracketed = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);

/** The host of the driver: its service, or its pod's IP. */
const driverHost = ({ conf, rules, driver }: ExecutorContext): string => {
  const key = "spark.kubernetes.executor.useDriverPodIP";
  const { callPodIp } = rules.executors;
  const byAddress = callPodIp !== undefined && (conf.has(key) ? flagOf(conf, key) : callPodIp);
  return bracketed((byAddress ? driver.ip : undefined) ?? conf.get("spark.driver.host") ?? driver.ip ?? "");
};

const driverUrl = (context: ExecutorContext): string =>
  `spark://CoarseGrainedScheduler@${driverHost(context)}:${countOf(context.conf, "spark.driver.port", ports.driver)}`;

type Variable = readonly [name: string, value: string | undefined];

const attributes = ({ conf, rules, applicationId, executorId }: ExecutorContext): readonly Variable[] =>
  rules.executors.tlsAndLogs && conf.has("spark.ui.custom.executor.log.url")
    ? [
        ["SPARK_EXECUTOR_ATTRIBUTE_APP_ID", applicationId],
        ["SPARK_EXECUTOR_ATTRIBUTE_EXECUTOR_ID", executorId],
      ]
    : [];

/** The user's variables; a text that cannot be a variable's name is left out. */
const users = ({ conf, applicationId, executorId }: ExecutorContext): readonly Variable[] =>
  Object.entries(below(conf, "spark.executorEnv."))
    .filter(([name]) => /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name))
    .map(([name, value]) =>
      name === "SPARK_EXECUTOR_DIRS"
        ? [name, value.replaceAll("SPARK_APPLICATION_ID", applicationId).replaceAll("SPARK_EXECUTOR_ID", executorId)]
        : [name, value],
    );

const secretOf = ({ conf, authSecret }: ExecutorContext): string | undefined =>
  conf.has("spark.authenticate.secret.file") || conf.has("spark.authenticate.secret.executor.file")
    ? undefined
    : authSecret;

const options = (context: ExecutorContext): readonly Variable[] =>
  javaOptions(context).map((option, at) => [`SPARK_JAVA_OPT_${at}`, option]);

/** The conf under which every executor runs one task at a time, with unchanged amounts. */
export const recoveryMode = "spark.kubernetes.allocation.recoveryMode.enabled";

const coresOf = ({ conf, rules }: ExecutorContext, cores: number): number =>
  rules.executors.resizable && flagOf(conf, recoveryMode)
    ? Math.max(1, Math.ceil(Number(conf.get("spark.task.cpus") ?? "1")))
    : cores;

const field = (name: string, fieldPath: string): Json => ({
  name,
  valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } },
});

const environment = (context: ExecutorContext, { cores, heap }: Amounts): readonly Json[] => {
  const { conf, applicationId, executorId, rules } = context;
  const variables: readonly Variable[] = [
    ["SPARK_USER", context.user],
    ["SPARK_DRIVER_URL", driverUrl(context)],
    ["SPARK_EXECUTOR_CORES", `${coresOf(context, cores)}`],
    ["SPARK_EXECUTOR_MEMORY", `${heap}m`],
    ["SPARK_APPLICATION_ID", applicationId],
    ["SPARK_CONF_DIR", "/opt/spark/conf"],
    ["SPARK_EXECUTOR_ID", executorId],
    ["SPARK_RESOURCE_PROFILE_ID", "0"],
    ...attributes(context),
    ...users(context),
    ["_SPARK_AUTH_SECRET", secretOf(context)],
    ["SPARK_CLASSPATH", conf.get("spark.executor.extraClassPath")],
    [
      "SPARK_EXECUTOR_LIBRARY_PATH",
      rules.executors.resizable ? conf.get("spark.executor.extraLibraryPath") : undefined,
    ],
    ...options(context),
  ];
  return [
    ...variables.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
    field("SPARK_EXECUTOR_POD_IP", "status.podIP"),
    field("SPARK_EXECUTOR_POD_NAME", "metadata.name"),
  ];
};

const confFolder = "/opt/spark/conf";
const confVolume = "spark-conf-volume-exec";

const longestHostname = 63;

/** The end of the pod's name, which contains the id. */
const hostnameOf = (podName: string): string =>
  podName
    .slice(-longestHostname)
    .replace(/^\W+/, "")
    .replaceAll(/[^\w-]+/g, "_");

const amounts = (context: ExecutorContext, container: Container): Container["resources"] => {
  const { conf, rules } = context;
  const { cores, memory } = amountsOf(conf, rules);
  const limit = conf.get("spark.kubernetes.executor.limit.cores");
  const cpu = conf.get("spark.kubernetes.executor.request.cores") ?? `${cores}`;
  return {
    ...container.resources,
    requests: { ...container.resources?.requests, memory: `${memory}Mi`, cpu },
    limits: {
      ...container.resources?.limits,
      memory: `${memory}Mi`,
      ...gpusOf(conf, "spark.executor"),
      ...(limit === undefined ? {} : { cpu: limit }),
    },
  };
};

export const blockManagerPort = ({ conf }: Pick<ExecutorContext, "conf">): number =>
  countOf(conf, "spark.blockManager.port", ports.blockManager);

/** The block manager's port; none for 0, where the executor draws its own. */
const portsOf = (context: ExecutorContext, { ports: given }: Container): Pick<Container, "ports"> => {
  const containerPort = blockManagerPort(context);
  return containerPort === 0 ? {} : { ports: [...(given ?? []), { name: "blockmanager", containerPort }] };
};

const resizing: readonly Json[] = ["cpu", "memory"].map((resourceName) => ({
  resourceName,
  restartPolicy: "NotRequired",
}));

const resizePolicyOf = ({ rules }: ExecutorContext, { resizePolicy }: Container): Pick<Container, "resizePolicy"> =>
  rules.executors.resizable ? { resizePolicy: [...(resizePolicy ?? []), ...resizing] } : {};

/** The preStop hook that asks a decommissioned executor to move its blocks. */
const farewell = ({ conf }: ExecutorContext): Container =>
  flagOf(conf, "spark.decommission.enabled")
    ? {
        lifecycle: {
          preStop: { exec: { command: [conf.get("spark.kubernetes.decommission.script") ?? "/opt/decom.sh"] } },
        },
      }
    : {};

/** The executors' image, or undefined when no conf names one. */
export const executorImage = ({
  conf,
  rules,
  sparkVersion,
}: Pick<ExecutorContext, "conf" | "rules" | "sparkVersion">): string | undefined => {
  const image = conf.get("spark.kubernetes.executor.container.image") ?? conf.get("spark.kubernetes.container.image");
  return rules.versionInImage ? image?.replaceAll("{{SPARK_VERSION}}", sparkVersion) : image;
};

const containerOf = (context: ExecutorContext, container: Container): Container => ({
  ...container,
  name: container.name ?? "spark-kubernetes-executor",
  image: executorImage(context) ?? "",
  imagePullPolicy: context.conf.get("spark.kubernetes.container.image.pullPolicy") ?? "IfNotPresent",
  env: [...(container.env ?? []), ...environment(context, amountsOf(context.conf, context.rules))],
  ...portsOf(context, container),
  args: [...(container.args ?? []), "executor"],
  resources: amounts(context, container),
  ...resizePolicyOf(context, container),
  ...shieldOf(context, "executor", container),
  ...farewell(context),
});

const filledIn = ({ applicationId, executorId }: ExecutorContext, texts: Texts): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [
      key,
      text.replaceAll("{{APP_ID}}", applicationId).replaceAll("{{EXECUTOR_ID}}", executorId),
    ]),
  );

const metadataOf = (context: ExecutorContext, metadata: PodMetadata): PodMetadata => ({
  ...metadata,
  name: context.podName,
  labels: {
    ...metadata.labels,
    ...(context.rules.idsInLabels ? filledIn(context, context.labels) : context.labels),
  },
  annotations: {
    ...metadata.annotations,
    ...filledIn(context, below(context.conf, "spark.kubernetes.executor.annotation.")),
  },
  ownerReferences: [...(metadata.ownerReferences ?? []), driverReference(context.driver)],
});

const seconds = /^(\d+)(s|m|min|h|d)?$/;
const factors: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3600, d: 86_400 };
const defaultGrace = 30;

/** The grace period. In versions with the conf, the template's value has no effect. */
const graceOf = ({ conf, rules }: ExecutorContext): PodSpec => {
  if (!rules.executorGraceConf) return {};
  const match = seconds.exec(conf.get("spark.kubernetes.executor.terminationGracePeriodSeconds")?.trim() ?? "");
  const value = match === null ? defaultGrace : Number(match[1]) * (factors[match[2] ?? "s"] ?? 1);
  return { terminationGracePeriodSeconds: value };
};

/** True for allocators whose pods belong to a set, which requires the restart policy Always. */
const ofSets = ({ conf, rules }: ExecutorContext): boolean => {
  const allocator = conf.get("spark.kubernetes.allocation.pods.allocator");
  return allocator === "statefulset" || (allocator === "deployment" && rules.executors.resizable);
};

const specOf = (context: ExecutorContext, spec: PodSpec): PodSpec => {
  const { conf } = context;
  const scheduler = conf.get("spark.kubernetes.executor.scheduler.name") ?? conf.get("spark.kubernetes.scheduler.name");
  const secrets = listOf(conf.get("spark.kubernetes.container.image.pullSecrets")).map((name) => ({ name }));
  return {
    ...spec,
    hostname: hostnameOf(context.podName),
    restartPolicy: ofSets(context) ? "Always" : "Never",
    ...graceOf(context),
    nodeSelector: {
      ...spec.nodeSelector,
      ...below(conf, "spark.kubernetes.node.selector."),
      ...below(conf, "spark.kubernetes.executor.node.selector."),
    },
    imagePullSecrets: [...(spec.imagePullSecrets ?? []), ...secrets],
    ...(scheduler === undefined ? {} : { schedulerName: scheduler }),
  };
};

const withConfMap = ({ conf, configMap, confFiles }: ExecutorContext, pod: SparkPod): SparkPod => {
  if (flagOf(conf, "spark.kubernetes.executor.disableConfigMap")) return pod;
  const items = [...confFiles].sort().map((key) => ({ key, mode: 0o644, path: key }));
  return withVolume(
    pod,
    { name: confVolume, configMap: { name: configMap, ...(items.length === 0 ? {} : { items }) } },
    { name: confVolume, mountPath: confFolder },
  );
};

export const basic =
  (context: ExecutorContext) =>
  (pod: SparkPod): SparkPod =>
    withConfMap(context, {
      ...pod,
      metadata: metadataOf(context, pod.metadata),
      spec: specOf(context, pod.spec),
      container: containerOf(context, pod.container),
    });
