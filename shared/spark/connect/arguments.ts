/** The command line of the server: upstream's options in upstream's order, maps sorted by key. */
import { isRecord, type Json } from "../../kube/responses.ts";
import type { SparkConnectSpec } from "../schema/connect.ts";
import { connectLabel, launchedLabel, serverName } from "./resource.ts";

/** The input of the arguments. */
export type Server = {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: SparkConnectSpec;
  /** The API server's address for pods. */
  readonly apiServer: string;
};

export const templateFile = "executor-pod-template.yaml";
export const templateFolder = "/tmp/spark";

export const executorContainer = "spark-kubernetes-executor";

type Pair = readonly [key: string, value: string | number | boolean];

const containersOf = (template: Json | undefined): readonly unknown[] => {
  const spec = isRecord(template?.["spec"]) ? template["spec"] : {};
  return Array.isArray(spec["containers"]) ? spec["containers"] : [];
};

/** The image of the named container of a template, if it sets one. */
export const imageIn = (template: Json | undefined, container: string): string | undefined => {
  const found = containersOf(template).find((one) => isRecord(one) && one["name"] === container);
  const image = isRecord(found) ? found["image"] : undefined;
  return typeof image === "string" && image !== "" ? image : undefined;
};

/** The executors' image: the template's goes before the common one. */
export const executorImage = ({ image, executor }: SparkConnectSpec): string | undefined =>
  imageIn(executor.template, executorContainer) ?? (image === "" ? undefined : image);

const sorted = (map: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] =>
  Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));

const podNameKey = "spark.kubernetes.driver.pod.name";

const userConfs = ({ sparkConf, hadoopConf }: SparkConnectSpec): readonly Pair[] => [
  ...sorted(sparkConf).filter(([key]) => key !== podNameKey),
  ...sorted(hadoopConf).map(
    ([key, value]): Pair => [key.startsWith("spark.hadoop.") ? key : `spark.hadoop.${key}`, value],
  ),
];

const given = (key: string, value: string | number | undefined): readonly Pair[] =>
  value === undefined ? [] : [[key, value]];

const labelsOf = (role: "driver" | "executor", { name, labels }: Server): readonly Pair[] => [
  [`spark.kubernetes.${role}.label.${launchedLabel}`, true],
  [`spark.kubernetes.${role}.label.${connectLabel}`, name],
  ...sorted(labels).map(([key, value]): Pair => [`spark.kubernetes.${role}.label.${key}`, value]),
];

const executorConfs = (server: Server): readonly Pair[] => {
  const { instances, cores, memory, template } = server.spec.executor;
  const templated: readonly Pair[] = [
    ["spark.kubernetes.executor.podTemplateFile", `${templateFolder}/${templateFile}`],
    ["spark.kubernetes.executor.podTemplateContainerName", executorContainer],
  ];
  return [
    ...labelsOf("executor", server),
    ...given("spark.executor.instances", instances),
    ...given("spark.executor.cores", cores),
    ...given("spark.executor.memory", memory),
    ["spark.kubernetes.executor.podNamePrefix", server.name],
    ...(template === undefined ? [] : templated),
  ];
};

const allocation = ({ dynamicAllocation: asked }: SparkConnectSpec): readonly Pair[] =>
  asked?.enabled === true
    ? [
        ["spark.dynamicAllocation.enabled", true],
        ...given("spark.dynamicAllocation.initialExecutors", asked.initialExecutors),
        ...given("spark.dynamicAllocation.minExecutors", asked.minExecutors),
        ...given("spark.dynamicAllocation.maxExecutors", asked.maxExecutors),
        ["spark.dynamicAllocation.shuffleTracking.enabled", asked.shuffleTrackingEnabled ?? true],
        ...given("spark.dynamicAllocation.shuffleTracking.timeout", asked.shuffleTrackingTimeout),
      ]
    : [];

/** Quotes a word for a shell. */
const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;

const conf = ([key, value]: Pair): readonly string[] => ["--conf", quoted(`${key}=${value}`)];

/** The pod's IP, known only in the pod; an IPv6 address stands in brackets. */
const host = '"spark.driver.host=$(case $POD_IP in (*:*) echo "[$POD_IP]" ;; (*) echo "$POD_IP" ;; esac)"';

/** One line for a shell in the server's container. `image` is the executors'. */
export const startCommand = (server: Server, image: string): string => {
  const { name, namespace, spec, apiServer } = server;
  const images: readonly Pair[] = [
    ["spark.kubernetes.namespace", namespace],
    ["spark.kubernetes.container.image", image],
    ["spark.kubernetes.executor.container.image", image],
  ];
  const ports: readonly Pair[] = [
    ["spark.driver.port", 7078],
    ["spark.driver.blockManager.port", 7079],
    [podNameKey, serverName(name)],
  ];
  const driver: readonly Pair[] = [
    ...labelsOf("driver", server),
    ...given("spark.driver.cores", spec.server.cores),
    ...given("spark.driver.memory", spec.server.memory),
    ["spark.driver.bindAddress", "0.0.0.0"],
  ];
  return [
    "$SPARK_HOME/sbin/start-connect-server.sh",
    ...["--master", quoted(`k8s://${apiServer}`)],
    ...[...images, ...userConfs(spec), ...driver].flatMap(conf),
    ...["--conf", host],
    ...[...ports, ...executorConfs(server), ...allocation(spec)].flatMap(conf),
  ].join(" ");
};
