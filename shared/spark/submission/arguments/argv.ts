/**
 * The `spark-submit` arguments of a SparkApplication, in upstream's order: typed fields win over sparkConf. Metrics
 * for Prometheus: `spec.monitoring` becomes confs, annotations and Java options, and a ConfigMap when the image does
 * not contain the configuration.
 */
import type { Obj } from "../../../core/object.ts";
import { type ConfSource, fromField, fromLabels, type Origin, originIn } from "../../ignored/confs.ts";
import type { Monitoring, SparkApplicationSpec } from "../../schema/application.ts";
import {
  amounts,
  each,
  operatorLabels,
  type Pair,
  pairIfSet,
  podArguments,
  type Subject,
  scratch,
  secretKeys,
  secrets,
} from "./pod.ts";

export const metricsFolder = "/etc/metrics/conf";
const metricsFile = "metrics.properties";
const exporterFile = "prometheus.yaml";

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
const monitored = ({ name, namespace, spec }: Named): SparkApplicationSpec => {
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

const metricsProperties = [
  "*.sink.jmx.class=org.apache.spark.metrics.sink.JmxSink",
  ...["driver", "executor"].map((role) => `${role}.source.jvm.class=org.apache.spark.metrics.source.JvmSource`),
  "",
].join("\n");

type Rule = readonly [bean: string, attribute: "Value" | "Count", name: string, labels: readonly string[]];

const application = ["app_namespace", "app_id"];
const query = [...application, "query_name"];
const executor = [...application, "executor_id"];

/** Metric names that dashboards use: each row maps a JMX bean below `metrics<name=NAMESPACE.APP.` to its metric. */
const rules: readonly Rule[] = [
  ["driver\\.(BlockManager|DAGScheduler|jvm)\\.(\\S+)", "Value", "spark_driver_$3_$4", application],
  ["driver\\.(\\S+)\\.StreamingMetrics\\.streaming\\.(\\S+)", "Value", "spark_streaming_driver_$4", application],
  ["driver\\.spark\\.streaming\\.(\\S+)\\.(.*)", "Value", "spark_structured_streaming_driver_$4", query],
  ["(\\S+)\\.executor\\.(\\S+)", "Value", "spark_executor_$4", executor],
  ["driver\\.DAGScheduler\\.(.*)", "Count", "spark_driver_DAGScheduler_$3_count", application],
  ["driver\\.HiveExternalCatalog\\.(.*)", "Count", "spark_driver_HiveExternalCatalog_$3_count", application],
  ["driver\\.CodeGenerator\\.(.*)", "Count", "spark_driver_CodeGenerator_$3_count", application],
  ["driver\\.LiveListenerBus\\.(.*)", "Count", "spark_driver_LiveListenerBus_$3_count", application],
  ["driver\\.LiveListenerBus\\.(.*)", "Value", "spark_driver_LiveListenerBus_$3", application],
  ["(.*)\\.executor\\.(.*)", "Count", "spark_executor_$4_count", executor],
  ["([0-9]+)\\.(jvm|NettyBlockTransfer)\\.(.*)", "Value", "spark_executor_$4_$5", executor],
  ["([0-9]+)\\.HiveExternalCatalog\\.(.*)", "Count", "spark_executor_HiveExternalCatalog_$4_count", executor],
  ["([0-9]+)\\.CodeGenerator\\.(.*)", "Count", "spark_executor_CodeGenerator_$4_count", executor],
];

/** JSON is YAML, and the exporter reads YAML. */
const exporterRules = JSON.stringify(
  {
    lowercaseOutputName: true,
    attrNameSnakeCase: true,
    rules: rules.map(([bean, attribute, name, labels]) => ({
      pattern: `metrics<name=(\\S+)\\.(\\S+)\\.${bean}><>${attribute}`,
      name,
      type: attribute === "Value" ? "GAUGE" : "COUNTER",
      labels: Object.fromEntries(labels.map((label, at) => [label, `$${at + 1}`])),
    })),
  },
  undefined,
  1,
);

/** Named after the application, not the attempt: all its attempts share it. */
export const metricsMap = (name: string, { monitoring }: SparkApplicationSpec): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: metricsMapName(name), labels: { "sparkoperator.k8s.io/created-by-spark-operator": "true" } },
  data: {
    ...(monitoring?.metricsPropertiesFile ? {} : { [metricsFile]: monitoring?.metricsProperties ?? metricsProperties }),
    ...(monitoring?.prometheus?.configFile
      ? {}
      : { [exporterFile]: monitoring?.prometheus?.configuration ?? exporterRules }),
  },
});

/** `spec.driver` in confs. */
const driverConfs = (subject: Subject): Pair[] => {
  const { spec } = subject;
  const { driver } = spec;
  return [
    ...amounts("driver", driver, spec),
    ...pairIfSet("spark.driver.extraJavaOptions", driver.javaOptions),
    ...pairIfSet("spark.kubernetes.driver.master", driver.kubernetesMaster),
    ...podArguments("driver", driver, subject),
    ...each("spark.kubernetes.driver.service.label.", driver.serviceLabels),
    ...each("spark.kubernetes.driver.service.annotation.", driver.serviceAnnotations),
    ...secretKeys("driver", driver),
    ...each("spark.kubernetes.driverEnv.", driver.envVars),
    ...secrets("driver", driver),
    ...scratch("driver", spec),
  ];
};

/** `spec.executor` in confs. */
const executorConfs = (subject: Subject): Pair[] => {
  const { spec } = subject;
  const { executor } = spec;
  return [
    ...pairIfSet("spark.executor.instances", executor.instances),
    ...amounts("executor", executor, spec),
    ...pairIfSet("spark.kubernetes.executor.deleteOnTermination", executor.deleteOnTermination),
    ...podArguments("executor", executor, subject),
    ...secretKeys("executor", executor),
    ...pairIfSet("spark.executor.extraJavaOptions", executor.javaOptions),
    ...each("spark.executorEnv.", executor.envVars),
    ...secrets("executor", executor),
    ...scratch("executor", spec),
  ];
};

export type Arguments = {
  readonly confs: readonly Pair[];
  /** Command-line options that have a conf of their own, by that conf. */
  readonly options: Readonly<Record<string, string>>;
  readonly mainClass: string | undefined;
  readonly resource: string;
  readonly arguments: readonly string[];
  readonly proxyUser: string | undefined;
};

const podNameKey = "spark.kubernetes.driver.pod.name";

/** The driver pod's name: the field, then sparkConf, then upstream's default. */
const driverPodNameOf = (name: string, spec: SparkApplicationSpec): string => {
  const own = spec.driver.podName ?? "";
  if (own !== "") return own;
  const conf = spec.sparkConf?.[podNameKey] ?? "";
  return conf === "" ? `${name}-driver` : conf;
};

const dependencies = ({ deps }: SparkApplicationSpec): Record<string, string> => {
  const lists: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["spark.jars", deps?.jars],
    ["spark.jars.packages", deps?.packages],
    ["spark.jars.excludes", deps?.excludePackages],
    ["spark.jars.repositories", deps?.repositories],
    ["spark.submit.pyFiles", deps?.pyFiles],
    ["spark.files", deps?.files],
    ["spark.archives", deps?.archives],
  ];
  return Object.fromEntries(
    lists.flatMap(([key, list]) => (list === undefined || list.length === 0 ? [] : [[key, list.join(",")]])),
  );
};

const images = (spec: SparkApplicationSpec): Pair[] => [
  ...pairIfSet("spark.kubernetes.container.image", spec.image),
  ...pairIfSet("spark.kubernetes.container.image.pullPolicy", spec.imagePullPolicy),
  ...pairIfSet(
    "spark.kubernetes.container.image.pullSecrets",
    spec.imagePullSecrets?.length ? spec.imagePullSecrets.join(",") : undefined,
  ),
];

const dynamicAllocation = ({ dynamicAllocation: dynamic }: SparkApplicationSpec): Pair[] =>
  dynamic?.enabled !== true
    ? []
    : [
        ["spark.dynamicAllocation.enabled", "true"],
        ...pairIfSet("spark.dynamicAllocation.initialExecutors", dynamic.initialExecutors),
        ...pairIfSet("spark.dynamicAllocation.minExecutors", dynamic.minExecutors),
        ...pairIfSet("spark.dynamicAllocation.maxExecutors", dynamic.maxExecutors),
        ["spark.dynamicAllocation.shuffleTracking.enabled", `${dynamic.shuffleTrackingEnabled ?? true}`],
        ...pairIfSet("spark.dynamicAllocation.shuffleTracking.timeout", dynamic.shuffleTrackingTimeout),
      ];

/** The paths of upstream's two pod templates. No process reads them there: the driver's conf names another file. */
const templates = (submissionId: string): Pair[] =>
  ["driver", "executor"].flatMap((role): Pair[] => [
    [`spark.kubernetes.${role}.podTemplateFile`, `/tmp/spark/${submissionId}/${role}-pod-template.yaml`],
    [`spark.kubernetes.${role}.podTemplateContainerName`, `spark-kubernetes-${role}`],
  ]);

/** The confs that follow the user's, in their order: of two with one key the later wins. */
const sourcesAfterUsers = (subject: Subject): readonly ConfSource<Pair>[] => {
  const { spec, submissionId } = subject;
  return [
    fromField("spec.hadoopConf", each("spark.hadoop.", spec.hadoopConf)),
    fromField("spec.driver.podName", [[podNameKey, driverPodNameOf(subject.name, spec)]]),
    fromLabels(operatorLabels("driver", subject)),
    fromField("spec.driver", driverConfs(subject)),
    fromLabels(operatorLabels("executor", subject)),
    fromField("spec.executor", executorConfs(subject)),
    fromField("spec.nodeSelector", each("spark.kubernetes.node.selector.", spec.nodeSelector)),
    fromField("spec.dynamicAllocation", dynamicAllocation(spec)),
    {
      by: "Rekindle, which writes the pod templates from the spec,",
      instead: "put the template into spec.driver.template and spec.executor.template",
      pairs: templates(submissionId),
    },
  ];
};

const confsOf = (subject: Subject): Pair[] => {
  const { spec } = subject;
  const users = Object.entries(spec.sparkConf ?? {}).filter(([key]) => key !== podNameKey);
  return [
    ["spark.kubernetes.namespace", subject.namespace],
    ...images(spec),
    ...pairIfSet("spark.kubernetes.pyspark.pythonVersion", spec.pythonVersion),
    ...pairIfSet("spark.kubernetes.memoryOverheadFactor", spec.memoryOverheadFactor),
    ["spark.kubernetes.submission.waitAppCompletion", "false"],
    ...users,
    ...sourcesAfterUsers(subject).flatMap(({ pairs }) => pairs),
  ];
};

/** The origin of a conf's value other than the user's sparkConf. */
export const originOf = (given: Subject, key: string): Origin => {
  const spec = monitored(given);
  const metrics: readonly Pair[] = Object.entries(spec === given.spec ? {} : (spec.sparkConf ?? {})).filter(
    ([name]) => name === "spark.metrics.namespace" || name === "spark.metrics.conf",
  );
  return originIn(
    [
      ...sourcesAfterUsers({ ...given, spec }),
      fromField("spec.monitoring", metrics),
      fromField("spec.deps", Object.entries(dependencies(spec))),
      {
        by: "metadata.name",
        instead: "name the application so, or remove the conf",
        pairs: [["spark.app.name", given.name]],
      },
    ],
    key,
  );
};

/** The arguments of an application. The spec is first extended by its metrics, as upstream's controller does. */
export const argumentsOf = (subject: Subject): Arguments => {
  const spec = monitored(subject);
  return {
    confs: confsOf({ ...subject, spec }),
    options: dependencies(spec),
    mainClass: spec.mainClass,
    resource: spec.mainApplicationFile,
    arguments: spec.arguments ?? [],
    proxyUser: spec.proxyUser === "" ? undefined : spec.proxyUser,
  };
};
