/** The `spark-submit` arguments of a SparkApplication, in upstream's order: typed fields win over sparkConf. */

import type { SparkApplicationSpec } from "../../schema/application.ts";
import { monitored } from "./monitoring.ts";
import {
  amounts,
  each,
  given,
  operatorLabels,
  type Pair,
  type Subject,
  scratch,
  secretKeys,
  secrets,
  words,
} from "./pod.ts";

/** `spec.driver` in confs. */
const driverConfs = (subject: Subject): Pair[] => {
  const { spec } = subject;
  const { driver } = spec;
  return [
    ...operatorLabels("driver", subject),
    ...amounts("driver", driver, spec),
    ...given("spark.driver.extraJavaOptions", driver.javaOptions),
    ...given("spark.kubernetes.driver.master", driver.kubernetesMaster),
    ...words("driver", driver, subject),
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
    ...operatorLabels("executor", subject),
    ...given("spark.executor.instances", executor.instances),
    ...amounts("executor", executor, spec),
    ...given("spark.kubernetes.executor.deleteOnTermination", executor.deleteOnTermination),
    ...words("executor", executor, subject),
    ...secretKeys("executor", executor),
    ...given("spark.executor.extraJavaOptions", executor.javaOptions),
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
  ...given("spark.kubernetes.container.image", spec.image),
  ...given("spark.kubernetes.container.image.pullPolicy", spec.imagePullPolicy),
  ...given(
    "spark.kubernetes.container.image.pullSecrets",
    spec.imagePullSecrets?.length ? spec.imagePullSecrets.join(",") : undefined,
  ),
];

const dynamicAllocation = ({ dynamicAllocation: dynamic }: SparkApplicationSpec): Pair[] =>
  dynamic?.enabled !== true
    ? []
    : [
        ["spark.dynamicAllocation.enabled", "true"],
        ...given("spark.dynamicAllocation.initialExecutors", dynamic.initialExecutors),
        ...given("spark.dynamicAllocation.minExecutors", dynamic.minExecutors),
        ...given("spark.dynamicAllocation.maxExecutors", dynamic.maxExecutors),
        ["spark.dynamicAllocation.shuffleTracking.enabled", `${dynamic.shuffleTrackingEnabled ?? true}`],
        ...given("spark.dynamicAllocation.shuffleTracking.timeout", dynamic.shuffleTrackingTimeout),
      ];

/** The paths of upstream's two pod templates. No process reads them there: the driver's conf names another file. */
const templates = (submissionId: string): Pair[] =>
  ["driver", "executor"].flatMap((role): Pair[] => [
    [`spark.kubernetes.${role}.podTemplateFile`, `/tmp/spark/${submissionId}/${role}-pod-template.yaml`],
    [`spark.kubernetes.${role}.podTemplateContainerName`, `spark-kubernetes-${role}`],
  ]);

const confsOf = (subject: Subject): Pair[] => {
  const { spec, submissionId } = subject;
  const users = Object.entries(spec.sparkConf ?? {}).filter(([key]) => key !== podNameKey);
  return [
    ["spark.kubernetes.namespace", subject.namespace],
    ...images(spec),
    ...given("spark.kubernetes.pyspark.pythonVersion", spec.pythonVersion),
    ...given("spark.kubernetes.memoryOverheadFactor", spec.memoryOverheadFactor),
    ["spark.kubernetes.submission.waitAppCompletion", "false"],
    ...users,
    ...each("spark.hadoop.", spec.hadoopConf),
    [podNameKey, driverPodNameOf(subject.name, spec)],
    ...driverConfs(subject),
    ...executorConfs(subject),
    ...each("spark.kubernetes.node.selector.", spec.nodeSelector),
    ...dynamicAllocation(spec),
    ...templates(submissionId),
  ];
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
