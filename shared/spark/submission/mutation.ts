/**
 * The pod fields that upstream's webhook writes when a pod is created, written here into the driver pod and the
 * executors' template. The order is the webhook's, because later edits see the fields of earlier ones.
 */

import { derivedLabel } from "../../kube/names.ts";
import type { Json } from "../../kube/responses.ts";
import type { SparkApplicationSpec, SparkPodSpec } from "../schema/application.ts";
import { limited } from "./additions.ts";
import { exporterPortName, exporterPortOf, metricsFolder, metricsMapName, needsMetricsMap } from "./arguments/argv.ts";
import { isScratch, type Role } from "./arguments/pod.ts";
import { inContainer, inSpec, type SparkPod, withEnv, withMount, withVolume } from "./pods/pod.ts";

type PodSource = {
  readonly role: Role;
  readonly name: string;
  readonly spec: SparkApplicationSpec;
  readonly own: SparkPodSpec;
};

type Edit = (pod: SparkPod, source: PodSource) => SparkPod;

const mounted = (pod: SparkPod, volume: string, configMap: string, mountPath: string): SparkPod =>
  withVolume(pod, { name: volume, configMap: { name: configMap } }, { name: volume, mountPath, readOnly: true });

/** The volume of a ConfigMap. */
const volumeNameOf = (configMap: string): string => derivedLabel(configMap, "vol");

const shared = [
  {
    field: "hadoopConfigMap",
    volume: "hadoop-configmap-volume",
    folder: "/etc/hadoop/conf",
    variable: "HADOOP_CONF_DIR",
  },
  { field: "sparkConfigMap", volume: "spark-configmap-volume", folder: "/etc/spark/conf", variable: "SPARK_CONF_DIR" },
] as const;

const sharedConfigMaps: Edit = (pod, { spec }) =>
  shared.reduce((before, { field, volume, folder, variable }) => {
    const name = spec[field];
    if (!name) return before;
    return withEnv(mounted(before, volume, name, folder), [{ name: variable, value: folder }]);
  }, pod);

const configMaps: Edit = (pod, { own }) =>
  (own.configMaps ?? []).reduce((before, { name, path }) => mounted(before, volumeNameOf(name), name, path), pod);

const metrics: Edit = (pod, { name, role, spec }) => {
  const { monitoring } = spec;
  const exporter = monitoring?.prometheus;
  const exposed = role === "driver" ? monitoring?.exposeDriverMetrics : monitoring?.exposeExecutorMetrics;
  if (exporter === undefined || exposed !== true || !needsMetricsMap(spec)) return pod;
  const map = metricsMapName(name);
  const port = { name: exporterPortName(exporter), containerPort: exporterPortOf(exporter), protocol: "TCP" };
  const folder = mounted(pod, volumeNameOf(map), map, metricsFolder);
  return inContainer(folder, { ports: [...(folder.container.ports ?? []), port] });
};

/** A mutated pod. `sidecars` are separate until the end, because Spark's container comes before them. */
type Mutated = { readonly pod: SparkPod; readonly sidecars: readonly Json[] };

const env: Edit = (pod, { own }) => withEnv(pod, own.env ?? []);

const envFrom: Edit = (pod, { own }) =>
  own.envFrom === undefined ? pod : inContainer(pod, { envFrom: [...(pod.container.envFrom ?? []), ...own.envFrom] });

const volumes: Edit = (pod, { own, spec }) =>
  (own.volumeMounts ?? [])
    .filter((mount) => !isScratch(mount["name"]))
    .reduce<SparkPod>((before, mount) => {
      const volume = spec.volumes?.find(({ name }) => name === mount["name"]);
      if (volume === undefined) return before;
      const there = before.spec.volumes ?? [];
      const known = there.some(({ name }) => name === volume["name"]);
      return withMount(known ? before : inSpec(before, { volumes: [...there, volume] }), mount);
    }, pod);

const ports: Edit = (pod, { own }) =>
  own.ports === undefined
    ? pod
    : inContainer(pod, {
        ports: [
          ...(pod.container.ports ?? []),
          ...own.ports.map(({ name, containerPort, protocol }) => ({ name, containerPort, protocol })),
        ],
      });

const hostNetwork: Edit = (pod, { own }) =>
  own.hostNetwork === true ? inSpec(pod, { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" }) : pod;

const hostAliases: Edit = (pod, { own }) =>
  own.hostAliases === undefined
    ? pod
    : inSpec(pod, { hostAliases: [...(pod.spec.hostAliases ?? []), ...own.hostAliases] });

const lacking = (there: readonly Json[], wanted: readonly Json[]): readonly Json[] =>
  wanted.filter((one) => !there.some((other) => other["name"] === one["name"] && other["image"] === one["image"]));

const initContainers: Edit = (pod, { own }) => {
  if (own.initContainers === undefined) return pod;
  const there = pod.spec.initContainers ?? [];
  return inSpec(pod, { initContainers: [...there, ...lacking(there, own.initContainers)] });
};

const dns: Edit = (pod, { own }) => (own.dnsConfig === undefined ? pod : inSpec(pod, { dnsConfig: own.dnsConfig }));

/** Removes the template's priority numbers: they follow from the class, and would contradict it. */
const priority: Edit = (pod, { own }) => {
  if (!own.priorityClassName) return pod;
  const { priority: _number, preemptionPolicy: _policy, ...rest } = pod.spec;
  return { ...pod, spec: { ...rest, priorityClassName: own.priorityClassName } };
};

const scheduler: Edit = (pod, { own, spec }) => {
  const schedulerName = spec.batchScheduler ?? own.schedulerName;
  return schedulerName ? inSpec(pod, { schedulerName }) : pod;
};

const nodeSelector: Edit = (pod, { own }) =>
  own.nodeSelector === undefined
    ? pod
    : inSpec(pod, { nodeSelector: { ...pod.spec.nodeSelector, ...own.nodeSelector } });

const affinity: Edit = (pod, { own }) => (own.affinity === undefined ? pod : inSpec(pod, { affinity: own.affinity }));

const tolerations: Edit = (pod, { own }) =>
  own.tolerations === undefined
    ? pod
    : inSpec(pod, { tolerations: [...(pod.spec.tolerations ?? []), ...own.tolerations] });

const withLimit = (pod: SparkPod, name: string, amount: string): SparkPod =>
  inContainer(pod, {
    resources: { ...pod.container.resources, limits: { ...pod.container.resources?.limits, [name]: amount } },
  });

/** Converts Java's units to Kubernetes'; a text in Kubernetes' units is unchanged. */
const kubernetesSize = (text: string): string => {
  const match = /^(\d+)\s*([kmgtp])b?$/i.exec(text.trim());
  const unit = match?.[2];
  if (match?.[1] === undefined || unit === undefined) return text;
  return `${match[1]}${unit.toUpperCase()}i`;
};

/** Marks the executors' template with the limit that admission writes: Spark overwrites a template's memory. */
const memoryLimit: Edit = (pod, { own, role }) => {
  if (!own.memoryLimit) return pod;
  const amount = kubernetesSize(own.memoryLimit);
  return role === "executor" ? limited(pod, amount) : withLimit(pod, "memory", amount);
};

const gpu: Edit = (pod, { own }) => (own.gpu === undefined ? pod : withLimit(pod, own.gpu.name, `${own.gpu.quantity}`));

const securityContext: Edit = (pod, { own }) =>
  own.securityContext === undefined ? pod : inContainer(pod, { securityContext: own.securityContext });

const podSecurityContext: Edit = (pod, { own }) =>
  own.podSecurityContext === undefined ? pod : inSpec(pod, { securityContext: own.podSecurityContext });

const grace: Edit = (pod, { own }) =>
  own.terminationGracePeriodSeconds === undefined
    ? pod
    : inSpec(pod, { terminationGracePeriodSeconds: own.terminationGracePeriodSeconds });

const lifecycle: Edit = (pod, { own }) =>
  own.lifecycle === undefined ? pod : inContainer(pod, { lifecycle: own.lifecycle });

const processes: Edit = (pod, { own }) =>
  own.shareProcessNamespace === true ? inSpec(pod, { shareProcessNamespace: true }) : pod;

const edits: readonly Edit[] = [
  env,
  envFrom,
  sharedConfigMaps,
  configMaps,
  volumes,
  ports,
  hostNetwork,
  hostAliases,
  initContainers,
  dns,
  priority,
  scheduler,
  nodeSelector,
  affinity,
  tolerations,
  memoryLimit,
  gpu,
  metrics,
  securityContext,
  podSecurityContext,
  grace,
  lifecycle,
  processes,
];

export const mutated = (pod: SparkPod, source: PodSource): Mutated => ({
  pod: edits.reduce((before, edit) => edit(before, source), pod),
  sidecars: lacking(pod.spec.containers ?? [], source.own.sidecars ?? []),
});
