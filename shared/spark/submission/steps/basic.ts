/** The driver pod's frame: name, labels, image, ports, amounts; as Spark's BasicDriverFeatureStep. */

import type { Json } from "../../../kube/responses.ts";
import {
  below,
  type Conf,
  countOf,
  flagOf,
  javaDouble,
  listOf,
  mebibytesIn,
  ratioIn,
  type Texts,
} from "../../configuration/conf.ts";
import type { Role } from "../arguments/pod.ts";
import type { Container, PodMetadata, PodSpec, SparkPod } from "../pods/pod.ts";
import { type Context, type Contribution, withIds } from "./step.ts";

const namesOf = (settings: Texts): readonly string[] => [
  ...new Set(Object.keys(settings).map((key) => key.split(".")[0] ?? key)),
];

const resourcesIn = (settings: Texts): readonly string[] =>
  namesOf(settings).filter((name) => Number.parseInt(settings[`${name}.amount`] ?? "", 10) > 0);

/** Resource limits by the names under which device plugins register: `vendor/name`. */
export const gpusOf = (conf: Conf, role: string): Texts => {
  const settings = below(conf, `${role}.resource.`);
  return Object.fromEntries(
    resourcesIn(settings).map((name) => [`${settings[`${name}.vendor`]}/${name}`, settings[`${name}.amount`] ?? ""]),
  );
};

/** Errors of a role's resources: without an amount, or without a vendor. */
export const wrongResources = (conf: Conf, role: string): readonly string[] => {
  const settings = below(conf, `${role}.resource.`);
  const uncounted = namesOf(settings).filter((name) => !/^\d+$/.test(settings[`${name}.amount`] ?? ""));
  const unsold = resourcesIn(settings).filter((name) => settings[`${name}.vendor`] === undefined);
  return [
    ...uncounted.map((name) => `You must specify an amount for ${name}: set ${role}.resource.${name}.amount`),
    ...unsold.map(
      (name) =>
        `Resource: ${name} was requested, but vendor was not specified: set ${role}.resource.${name}.vendor, such as nvidia.com`,
    ),
  ];
};

export const ports = { driver: 7078, blockManager: 7079, ui: 4040, connect: 15002 } as const;

/** The pod's block manager port. It falls back to `spark.blockManager.port`, a service's does not, as in Spark. */
const blockManagerPort = (conf: Conf): number =>
  countOf(conf, "spark.driver.blockManager.port", countOf(conf, "spark.blockManager.port", ports.blockManager));

export const connectPortOf = (conf: Conf): number => countOf(conf, "spark.connect.grpc.binding.port", ports.connect);

const nonJvmFactor = 0.4;

/** The overhead factor that executors inherit: the user's, or the default of the program's language. */
const overheadFactor = ({ conf, program }: Context): number =>
  ratioIn(conf, "spark.kubernetes.memoryOverheadFactor") ?? (program.language === "java" ? 0.1 : nonJvmFactor);

const leastOverhead = ({ conf, rules }: Context): number =>
  (rules.minOverheadConf ? mebibytesIn(conf, "spark.driver.minMemoryOverhead") : undefined) ?? 384;

const memoryOf = (context: Context): number => {
  const { conf } = context;
  const heap = mebibytesIn(conf, "spark.driver.memory") ?? 1024;
  const factor = ratioIn(conf, "spark.driver.memoryOverheadFactor") ?? overheadFactor(context);
  const overhead =
    mebibytesIn(conf, "spark.driver.memoryOverhead") ?? Math.max(Math.trunc(factor * heap), leastOverhead(context));
  return heap + overhead;
};

const amounts = (context: Context, container: Container): Container["resources"] => {
  const { conf } = context;
  const memory = `${memoryOf(context)}Mi`;
  const limit = conf.get("spark.kubernetes.driver.limit.cores");
  const cpu = conf.get("spark.kubernetes.driver.request.cores") ?? `${countOf(conf, "spark.driver.cores", 1)}`;
  return {
    ...container.resources,
    requests: { ...container.resources?.requests, cpu, memory },
    limits: {
      ...container.resources?.limits,
      ...(limit === undefined ? {} : { cpu: limit }),
      memory,
      ...gpusOf(conf, "spark.driver"),
    },
  };
};

const portsOf = ({ conf, rules }: Context): Json[] => [
  { name: "driver-rpc-port", containerPort: countOf(conf, "spark.driver.port", ports.driver), protocol: "TCP" },
  { name: "blockmanager", containerPort: blockManagerPort(conf), protocol: "TCP" },
  { name: "spark-ui", containerPort: countOf(conf, "spark.ui.port", ports.ui), protocol: "TCP" },
  ...(rules.connectPort === "none"
    ? []
    : [{ name: "spark-connect", containerPort: connectPortOf(conf), protocol: "TCP" }]),
];

const envOf = (context: Context): Json[] => [
  { name: "SPARK_USER", value: context.proxyUser ?? context.machine.user },
  { name: "SPARK_APPLICATION_ID", value: context.applicationId },
  ...Object.entries(below(context.conf, "spark.kubernetes.driverEnv.")).map(([name, value]) => ({ name, value })),
  {
    name: "SPARK_DRIVER_BIND_ADDRESS",
    valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } },
  },
];

/** The driver's image, or undefined when no conf names one. */
export const imageOf = (context: Pick<Context, "conf" | "rules" | "sparkVersion">): string | undefined => {
  const { conf, rules, sparkVersion } = context;
  const image = conf.get("spark.kubernetes.driver.container.image") ?? conf.get("spark.kubernetes.container.image");
  return rules.versionInImage ? image?.replaceAll("{{SPARK_VERSION}}", sparkVersion) : image;
};

/** Denies privilege escalation in newer versions, unless a conf of the role or of both roles allows it. */
export const shieldOf = (
  { conf, rules }: Pick<Context, "conf" | "rules">,
  role: Role,
  { securityContext }: Container,
): Pick<Container, "securityContext"> => {
  if (!rules.securityContext) return {};
  const end = "securityContext.allowPrivilegeEscalation";
  const own = `spark.kubernetes.${role}.${end}`;
  const allowPrivilegeEscalation = flagOf(conf, conf.has(own) ? own : `spark.kubernetes.${end}`);
  return { securityContext: { ...securityContext, allowPrivilegeEscalation } };
};

const containerOf = (context: Context, container: Container): Container => ({
  ...container,
  name: container.name ?? "spark-kubernetes-driver",
  image: imageOf(context) ?? "",
  imagePullPolicy: context.conf.get("spark.kubernetes.container.image.pullPolicy") ?? "IfNotPresent",
  ports: [...(container.ports ?? []), ...portsOf(context)],
  env: [...(container.env ?? []), ...envOf(context)],
  resources: amounts(context, container),
  ...shieldOf(context, "driver", container),
});

const metadataOf = (context: Context, metadata: PodMetadata): PodMetadata => {
  const annotations = withIds(below(context.conf, "spark.kubernetes.driver.annotation."), context.applicationId);
  return {
    ...metadata,
    name: context.driverPodName,
    labels: { ...metadata.labels, ...context.labels },
    annotations: { ...metadata.annotations, ...annotations },
  };
};

const specOf = ({ conf }: Context, spec: PodSpec): PodSpec => {
  const scheduler = conf.get("spark.kubernetes.driver.scheduler.name") ?? conf.get("spark.kubernetes.scheduler.name");
  const secrets = listOf(conf.get("spark.kubernetes.container.image.pullSecrets")).map((name) => ({ name }));
  const nodeSelector: Texts = {
    ...spec.nodeSelector,
    ...below(conf, "spark.kubernetes.node.selector."),
    ...below(conf, "spark.kubernetes.driver.node.selector."),
  };
  return {
    ...spec,
    restartPolicy: "Never",
    nodeSelector,
    imagePullSecrets: [...(spec.imagePullSecrets ?? []), ...secrets],
    ...(scheduler === undefined ? {} : { schedulerName: scheduler }),
  };
};

export const basic = (context: Context): Contribution => ({
  pod: (pod: SparkPod): SparkPod => ({
    ...pod,
    metadata: metadataOf(context, pod.metadata),
    spec: specOf(context, pod.spec),
    container: containerOf(context, pod.container),
  }),
  confs: {
    "spark.kubernetes.driver.pod.name": context.driverPodName,
    "spark.app.id": context.applicationId,
    "spark.kubernetes.submitInDriver": "true",
    "spark.kubernetes.memoryOverheadFactor": javaDouble(overheadFactor(context)),
  },
});
