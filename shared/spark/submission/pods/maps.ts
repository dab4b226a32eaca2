/** ConfigMaps that a SparkApplication names, mounted into its pods: Hadoop's, Spark's, any other, metrics. */
import { digest } from "../../../core/key.ts";
import {
  exporterPortName,
  exporterPortOf,
  metricsFolder,
  metricsMapName,
  needsMetricsMap,
} from "../arguments/monitoring.ts";
import type { Edit } from "./edit.ts";
import type { SparkPod } from "./pod.ts";
import { inContainer, withEnv, withVolume } from "./pod.ts";

const mounted = (pod: SparkPod, volume: string, configMap: string, mountPath: string): SparkPod =>
  withVolume(pod, { name: volume, configMap: { name: configMap } }, { name: volume, mountPath, readOnly: true });

/** The volume of a ConfigMap. Volumes are DNS labels: other names get dashes for dots, are cut, and get a hash. */
const volumeNameOf = (configMap: string): string => {
  const plain = `${configMap}-vol`;
  if (plain.length <= 63 && !plain.includes(".")) return plain;
  const hash = digest(configMap).slice(0, 8);
  return `${configMap.replaceAll(".", "-").slice(0, 63 - "-vol-".length - hash.length)}-vol-${hash}`;
};

const shared = [
  {
    field: "hadoopConfigMap",
    volume: "hadoop-configmap-volume",
    folder: "/etc/hadoop/conf",
    variable: "HADOOP_CONF_DIR",
  },
  { field: "sparkConfigMap", volume: "spark-configmap-volume", folder: "/etc/spark/conf", variable: "SPARK_CONF_DIR" },
] as const;

export const sharedConfigMaps: Edit = (pod, { spec }) =>
  shared.reduce((before, { field, volume, folder, variable }) => {
    const name = spec[field];
    if (!name) return before;
    return withEnv(mounted(before, volume, name, folder), [{ name: variable, value: folder }]);
  }, pod);

export const configMaps: Edit = (pod, { own }) =>
  (own.configMaps ?? []).reduce((before, { name, path }) => mounted(before, volumeNameOf(name), name, path), pod);

export const metrics: Edit = (pod, { name, role, spec }) => {
  const { monitoring } = spec;
  const exporter = monitoring?.prometheus;
  const exposed = role === "driver" ? monitoring?.exposeDriverMetrics : monitoring?.exposeExecutorMetrics;
  if (exporter === undefined || exposed !== true || !needsMetricsMap(spec)) return pod;
  const map = metricsMapName(name);
  const port = { name: exporterPortName(exporter), containerPort: exporterPortOf(exporter), protocol: "TCP" };
  const folder = mounted(pod, volumeNameOf(map), map, metricsFolder);
  return inContainer(folder, { ports: [...(folder.container.ports ?? []), port] });
};
