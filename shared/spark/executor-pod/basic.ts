/** The executor pod's frame: name, labels, image, amounts, variables; as Spark's BasicExecutorFeatureStep. */
import type { Json } from "../../kube/responses.ts";
import { below, countOf, flagOf, listOf, type Texts } from "../configuration/conf.ts";
import type { Container, PodMetadata, PodSpec, SparkPod } from "../submission/pods/pod.ts";
import { withVolume } from "../submission/pods/pod.ts";
import { gpusOf, ports, shieldOf } from "../submission/steps/basic.ts";
import { amountsOf, environment } from "./environment.ts";
import { driverReference, type ExecutorContext } from "./request.ts";

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
