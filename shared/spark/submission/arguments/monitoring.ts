/** Metrics for Prometheus: translates `spec.monitoring` into confs, annotations and Java options. */
import type { Monitoring, SparkApplicationSpec } from "../../schema/application.ts";

export const metricsFolder = "/etc/metrics/conf";
export const metricsFile = "metrics.properties";
export const exporterFile = "prometheus.yaml";

const exporterPort = 8090;

type Exporter = NonNullable<Monitoring["prometheus"]>;

export const exporterPortOf = (exporter: Exporter): number => exporter.port ?? exporterPort;

export const exporterPortName = (exporter: Exporter): string => exporter.portName ?? "jmx-exporter";

const set = (text: string | undefined): text is string => text !== undefined && text !== "";

/** False when both files are in the image: then no ConfigMap is created and none is mounted. */
export const needsMetricsMap = ({ monitoring }: SparkApplicationSpec): boolean =>
  monitoring?.prometheus !== undefined &&
  !(set(monitoring.metricsPropertiesFile) && set(monitoring.prometheus.configFile));

export const metricsMapName = (name: string): string => `${name}-prom-conf`;

const agentOf = (exporter: Exporter): string => {
  const file = set(exporter.configFile) ? exporter.configFile : `${metricsFolder}/${exporterFile}`;
  return `-javaagent:${exporter.jmxExporterJar}=${exporterPortOf(exporter)}:${file}`;
};

type Watched = { readonly annotations?: Record<string, string>; readonly javaOptions?: string };

const watched = (pod: SparkApplicationSpec["driver" | "executor"], exporter: Exporter): Watched => ({
  annotations: {
    ...pod.annotations,
    "prometheus.io/scrape": "true",
    "prometheus.io/port": `${exporterPortOf(exporter)}`,
    "prometheus.io/path": "/metrics",
  },
  javaOptions: pod.javaOptions === undefined ? agentOf(exporter) : `${pod.javaOptions} ${agentOf(exporter)}`,
});

type Named = { readonly name: string; readonly namespace: string; readonly spec: SparkApplicationSpec };

/** The spec extended by its metrics; unchanged without `spec.monitoring.prometheus`. */
export const monitored = ({ name, namespace, spec }: Named): SparkApplicationSpec => {
  const { monitoring } = spec;
  const exporter = monitoring?.prometheus;
  if (monitoring === undefined || exporter === undefined) return spec;
  const file = monitoring.metricsPropertiesFile;
  return {
    ...spec,
    sparkConf: {
      ...spec.sparkConf,
      "spark.metrics.namespace": `${namespace}.${name}`,
      "spark.metrics.conf": set(file) ? file : `${metricsFolder}/${metricsFile}`,
    },
    driver: { ...spec.driver, ...(monitoring.exposeDriverMetrics ? watched(spec.driver, exporter) : {}) },
    executor: { ...spec.executor, ...(monitoring.exposeExecutorMetrics ? watched(spec.executor, exporter) : {}) },
  };
};
