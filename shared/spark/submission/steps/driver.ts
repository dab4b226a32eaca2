/** The driver's command, its headless service, the network of the pod, the executors' template and Volcano's PodGroup; as the
 * steps of these names in Spark's submission client. */

import { isRecord } from "../../../core/json.ts";
import type { Json } from "../../../kube/responses.ts";
import { below, type Conf, countOf, flagOf, listOf } from "../../configuration/conf.ts";
import { inContainer, type SparkPod, withEnv, withVolume } from "../pods/pod.ts";
import { connectPortOf, ports } from "./basic.ts";
import type { Context, Contribution, Machine } from "./step.ts";

const portsOf = ({ conf, rules }: Context): Json[] => {
  const row = (name: string, port: number): Json => ({ name, port, targetPort: port });
  const connect = row("spark-connect", connectPortOf(conf));
  const served = [
    row("driver-rpc-port", countOf(conf, "spark.driver.port", ports.driver)),
    row("blockmanager", countOf(conf, "spark.driver.blockManager.port", ports.blockManager)),
    row("spark-ui", countOf(conf, "spark.ui.port", ports.ui)),
  ];
  if (rules.connectPort === "none") return served;
  return [...served, rules.connectPort === "named" ? { ...connect, appProtocol: "grpc" } : connect];
};

const specOf = (context: Context): Json => ({
  clusterIP: "None",
  ipFamilyPolicy: context.conf.get("spark.kubernetes.driver.service.ipFamilyPolicy") ?? "SingleStack",
  ipFamilies: (context.conf.get("spark.kubernetes.driver.service.ipFamilies") ?? "IPv4").split(","),
  ...(context.rules.securityContext
    ? { publishNotReadyAddresses: flagOf(context.conf, "spark.kubernetes.driver.service.publishNotReadyAddresses") }
    : {}),
  selector: context.labels,
  ports: portsOf(context),
});

/** The headless service by which executors find their driver; as DriverServiceFeatureStep. */
export const service = (context: Context): Contribution => {
  const { conf, identity, namespace } = context;
  const annotations = below(conf, "spark.kubernetes.driver.service.annotation.");
  return {
    confs: {
      "spark.driver.host": `${identity.serviceName}.${namespace}.svc`,
      "spark.driver.port": `${countOf(conf, "spark.driver.port", ports.driver)}`,
      "spark.driver.blockManager.port": `${countOf(conf, "spark.driver.blockManager.port", ports.blockManager)}`,
    },
    objects: [
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          name: identity.serviceName,
          labels: {
            "spark-app-selector": context.applicationId,
            ...below(conf, "spark.kubernetes.driver.service.label."),
          },
          ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
        },
        spec: specOf(context),
      },
    ],
  };
};

const pythonEnv = (conf: Conf, machine: Machine): { name: string; value: string }[] => {
  const python = conf.get("spark.pyspark.python") ?? machine.python;
  const driver =
    conf.get("spark.pyspark.driver.python") ??
    conf.get("spark.pyspark.python") ??
    machine.driverPython ??
    machine.python;
  return [
    ...(python === undefined ? [] : [{ name: "PYSPARK_PYTHON", value: python }]),
    ...(driver === undefined ? [] : [{ name: "PYSPARK_DRIVER_PYTHON", value: driver }]),
  ];
};

const argumentsOf = ({ program, proxyUser }: Context): string[] => [
  "driver",
  ...(proxyUser === undefined ? [] : ["--proxy-user", proxyUser]),
  "--properties-file",
  "/opt/spark/conf/spark.properties",
  "--class",
  program.mainClass,
  program.resource,
  ...program.arguments,
];

/** The arguments of the driver's container; as DriverCommandFeatureStep. */
export const command = (context: Context): Contribution => ({
  pod: (pod: SparkPod): SparkPod => {
    const configured = inContainer(pod, { args: [...(pod.container.args ?? []), ...argumentsOf(context)] });
    return context.program.language === "python"
      ? withEnv(configured, pythonEnv(context.conf, context.machine))
      : configured;
  },
  confs: { "spark.kubernetes.resource.type": context.program.language },
});

/** A NetworkPolicy: executors accept connections from their own application only; as NetworkPolicyFeatureStep. */
export const network = (context: Context): Contribution => {
  if (!context.rules.networkPolicy) return {};
  const own = { "spark-app-selector": context.applicationId };
  return {
    objects: [
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "NetworkPolicy",
        metadata: { name: `${context.identity.prefix}-policy`, namespace: context.namespace, labels: own },
        spec: {
          podSelector: { matchLabels: { ...own, "spark-role": "executor" } },
          ingress: [{ from: [{ podSelector: { matchLabels: own } }] }],
        },
      },
    ],
  };
};

const folder = "/opt/spark/pod-template";
const file = "pod-spec-template.yml";
const key = "podspec-configmap-key";

export const executorTemplateConf = "spark.kubernetes.executor.podTemplateFile";

export const template = ({ identity, executorTemplate }: Context): Contribution => {
  if (executorTemplate === undefined) return {};
  const name = `${identity.prefix}-driver-podspec-conf-map`;
  return {
    pod: (pod) =>
      withVolume(
        pod,
        { name: "pod-template-volume", configMap: { name, items: [{ key, path: file }] } },
        { name: "pod-template-volume", mountPath: folder },
      ),
    confs: { [executorTemplateConf]: `${folder}/${file}` },
    objects: [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, immutable: true, data: { [key]: executorTemplate } },
    ],
  };
};

export const volcanoStep = "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep";
export const podGroupFile = "spark.kubernetes.scheduler.volcano.podGroupTemplateFile";
export const customStepsConf = "spark.kubernetes.driver.pod.featureSteps";

const asksFor = (conf: Conf): boolean => listOf(conf.get(customStepsConf)).includes(volcanoStep);

const groupOf = (applicationId: string): string => `${applicationId}-podgroup`;

/** Adds a pod of either role to the group. */
export const volcanoGroup = (applicationId: string): Contribution => ({
  pod: (pod) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, "scheduling.k8s.io/group-name": groupOf(applicationId) },
    },
  }),
});

export const volcano = ({ applicationId, conf, namespace, podGroup }: Context): Contribution => {
  if (!asksFor(conf)) return {};
  const metadata = isRecord(podGroup?.["metadata"]) ? podGroup["metadata"] : {};
  const spec = isRecord(podGroup?.["spec"]) ? podGroup["spec"] : {};
  return {
    ...volcanoGroup(applicationId),
    first: [
      {
        apiVersion: "scheduling.volcano.sh/v1beta1",
        kind: "PodGroup",
        metadata: { ...metadata, name: groupOf(applicationId), namespace },
        spec,
      },
    ],
  };
};
