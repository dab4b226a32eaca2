/** The three objects of a SparkConnect, as upstream creates them: ConfigMap, server pod, Service; and the server's command line. */

import { digestOf, fieldsOf, isRecord } from "../../core/json.ts";
import { apiVersionOf, type Metadata, type Obj, type Stored } from "../../core/object.ts";
import { podSpecIn } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { type ConfSource, fromField, fromLabels, fromRekindle, type Origin, originIn } from "../ignored/confs.ts";
import type { SparkConnectSpec } from "../schema/application.ts";
import { configMapName, connectLabel, launchedLabel, serverName, sparkConnects } from "../schema/resource.ts";
import { pruned } from "../submission/pods/pod.ts";

/** The input of the arguments. */
export type Server = {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: SparkConnectSpec;
  /** The API server's address for pods. */
  readonly apiServer: string;
};

const templateFile = "executor-pod-template.yaml";
const templateFolder = "/tmp/spark";

const executorContainer = "spark-kubernetes-executor";

type Pair = readonly [key: string, value: string | number | boolean];

const containersOf = (template: Json | undefined): readonly unknown[] => {
  const { containers } = podSpecIn(template);
  return Array.isArray(containers) ? containers : [];
};

/** The image of the named container of a template, if it sets one. */
const imageIn = (template: Json | undefined, container: string): string | undefined => {
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
const hostKey = "spark.driver.host";

const userConfs = ({ sparkConf }: SparkConnectSpec): readonly Pair[] =>
  sorted(sparkConf).filter(([key]) => key !== podNameKey);

const hadoopConfs = ({ hadoopConf }: SparkConnectSpec): readonly Pair[] =>
  sorted(hadoopConf).map(([key, value]) => [key.startsWith("spark.hadoop.") ? key : `spark.hadoop.${key}`, value]);

const given = (key: string, value: string | number | undefined): readonly Pair[] =>
  value === undefined ? [] : [[key, value]];

const labelsOf = (role: "driver" | "executor", { name, labels }: Server): readonly Pair[] => [
  [`spark.kubernetes.${role}.label.${launchedLabel}`, true],
  [`spark.kubernetes.${role}.label.${connectLabel}`, name],
  ...sorted(labels).map(([key, value]): Pair => [`spark.kubernetes.${role}.label.${key}`, value]),
];

const executorConfs = ({ spec }: Server): readonly Pair[] => {
  const { instances, cores, memory } = spec.executor;
  return [
    ...given("spark.executor.instances", instances),
    ...given("spark.executor.cores", cores),
    ...given("spark.executor.memory", memory),
  ];
};

const templateConfs = ({ spec }: Server): readonly Pair[] =>
  spec.executor.template === undefined
    ? []
    : [
        ["spark.kubernetes.executor.podTemplateFile", `${templateFolder}/${templateFile}`],
        ["spark.kubernetes.executor.podTemplateContainerName", executorContainer],
      ];

const allocation = ({ dynamicAllocation: dynamic }: SparkConnectSpec): readonly Pair[] =>
  dynamic?.enabled === true
    ? [
        ["spark.dynamicAllocation.enabled", true],
        ...given("spark.dynamicAllocation.initialExecutors", dynamic.initialExecutors),
        ...given("spark.dynamicAllocation.minExecutors", dynamic.minExecutors),
        ...given("spark.dynamicAllocation.maxExecutors", dynamic.maxExecutors),
        ["spark.dynamicAllocation.shuffleTracking.enabled", dynamic.shuffleTrackingEnabled ?? true],
        ...given("spark.dynamicAllocation.shuffleTracking.timeout", dynamic.shuffleTrackingTimeout),
      ]
    : [];

/** Quotes a word for a shell. */
const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;

const conf = ([key, value]: Pair): readonly string[] => ["--conf", key === hostKey ? host : quoted(`${key}=${value}`)];

/** The pod's IP, known only in the pod; an IPv6 address stands in brackets. */
const host = '"spark.driver.host=$(case $POD_IP in (*:*) echo "[$POD_IP]" ;; (*) echo "$POD_IP" ;; esac)"';

/** The confs that follow the user's, in their order: of two with one key the later wins. */
const sourcesAfterUsers = (server: Server): readonly ConfSource<Pair>[] => {
  const { spec, name } = server;
  const { cores, memory } = spec.server;
  return [
    fromField("spec.hadoopConf", hadoopConfs(spec)),
    fromLabels(labelsOf("driver", server)),
    fromField("spec.server", [...given("spark.driver.cores", cores), ...given("spark.driver.memory", memory)]),
    fromRekindle<Pair>([
      ["spark.driver.bindAddress", "0.0.0.0"],
      [hostKey, "the pod's address"],
      ["spark.driver.port", 7078],
      ["spark.driver.blockManager.port", 7079],
      [podNameKey, serverName(name)],
    ]),
    fromLabels(labelsOf("executor", server)),
    fromField("spec.executor", executorConfs(server)),
    fromRekindle<Pair>([["spark.kubernetes.executor.podNamePrefix", name]]),
    fromField("spec.executor.template", templateConfs(server)),
    fromField("spec.dynamicAllocation", allocation(spec)),
  ];
};

/** The confs of the server, and the origin of one that is not the user's own. `image` is the executors'. */
export const confsOfServer = (server: Server, image: string) => {
  const { namespace, spec } = server;
  const images: readonly Pair[] = [
    ["spark.kubernetes.namespace", namespace],
    ["spark.kubernetes.container.image", image],
    ["spark.kubernetes.executor.container.image", image],
  ];
  const later = sourcesAfterUsers(server);
  return {
    pairs: [...images, ...userConfs(spec), ...later.flatMap(({ pairs }) => pairs)],
    originOf: (key: string): Origin => originIn(later, key),
  };
};

/** One line for a shell in the server's container. `image` is the executors'. */
const startCommand = (server: Server, image: string): string =>
  [
    "$SPARK_HOME/sbin/start-connect-server.sh",
    ...["--master", quoted(`k8s://${server.apiServer}`)],
    ...confsOfServer(server, image).pairs.flatMap(conf),
  ].join(" ");

type Labels = Readonly<Record<string, string>>;

const container = "spark-kubernetes-driver";
export const connectPort = 15_002;
const volume = "spark-configmap-volume";

/** Annotation on the pod with the digest of its spec, which shows a later change. */
export const specAnnotation = "rekindle.dev/spec";

export const commonLabels = (name: string): Labels => ({
  "sparkoperator.k8s.io/created-by-spark-operator": "true",
  [connectLabel]: name,
});

const selectorLabels = ({ name, spec }: Server): Labels => ({
  [launchedLabel]: "true",
  [connectLabel]: name,
  "spark-role": "connect-server",
  "spark-version": spec.sparkVersion,
});

const textsAt = (metadata: unknown, field: string): Labels => {
  const found = isRecord(metadata) && isRecord(metadata[field]) ? metadata[field] : {};
  return Object.fromEntries(
    Object.entries(found).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
};

/** Metadata of an object that the SparkConnect controls. */
export const controlled = (owner: Stored, name: string, labels: Labels, annotations: Labels = {}): Metadata => ({
  name,
  ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
  labels,
  ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  ownerReferences: [
    {
      apiVersion: apiVersionOf(sparkConnects),
      kind: sparkConnects.kind,
      name: owner.metadata.name,
      uid: owner.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ],
});

/** The executors' pod template as a file; JSON is YAML. */
export const configMap = (owner: Stored, { name, spec }: Server): Obj => {
  const { template } = spec.executor;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: controlled(owner, configMapName(name), commonLabels(name)),
    data: { [templateFile]: `${JSON.stringify(template === undefined ? null : pruned(template))}\n` },
  };
};

const probe = { tcpSocket: { port: connectPort }, periodSeconds: 10, timeoutSeconds: 1 } as const;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const serving = (given: Json, server: Server, images: Images): Json => ({
  startupProbe: { ...probe, initialDelaySeconds: 5, failureThreshold: 30 },
  readinessProbe: { ...probe, failureThreshold: 3 },
  ...given,
  image: images.server,
  command: ["bash", "-c"],
  args: [startCommand(server, images.executor)],
  env: [
    ...listOf(given["env"]),
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    { name: "SPARK_NO_DAEMONIZE", value: "true" },
  ],
  volumeMounts: [
    ...listOf(given["volumeMounts"]),
    { name: volume, subPath: templateFile, mountPath: `${templateFolder}/${templateFile}`, readOnly: true },
  ],
  lifecycle: { preStop: { exec: { command: ["bash", "-c", "$SPARK_HOME/sbin/stop-connect-server.sh"] } } },
});

export type Images = { readonly server: string; readonly executor: string };

/** Sets up the container that serves: the one with Spark's name, else the first. */
const withServer = (containers: readonly unknown[], server: Server, images: Images): readonly unknown[] => {
  const all = containers.length === 0 ? [{ name: container }] : containers;
  const named = all.findIndex((one) => isRecord(one) && one["name"] === container);
  return all.map((one, index) => (index === Math.max(0, named) && isRecord(one) ? serving(one, server, images) : one));
};

/** The image of the container that serves. */
export const serverImage = ({ image, server }: SparkConnectSpec): string | undefined => {
  const [first] = listOf(podSpecIn(server.template)["containers"]);
  const name = isRecord(first) && typeof first["name"] === "string" ? first["name"] : container;
  return imageIn(server.template, container) ?? imageIn(server.template, name) ?? (image === "" ? undefined : image);
};

export const serverPod = (owner: Stored, server: Server, images: Images): Obj => {
  const { metadata, spec } = pruned(server.spec.server.template ?? {});
  const given = fieldsOf(spec);
  const labels = { ...textsAt(metadata, "labels"), ...selectorLabels(server) };
  const annotations = { ...textsAt(metadata, "annotations"), [specAnnotation]: digestOf(owner.spec).slice(0, 16) };
  const mounted = {
    name: volume,
    configMap: { name: configMapName(server.name), items: [{ key: templateFile, path: templateFile }] },
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: controlled(owner, serverName(server.name), labels, annotations),
    spec: {
      ...given,
      containers: withServer(listOf(given["containers"]), server, images),
      volumes: [...listOf(given["volumes"]), mounted],
    },
  };
};

const port = (name: string, number: number, appProtocol: string): Json => ({
  name,
  port: number,
  targetPort: number,
  protocol: "TCP",
  appProtocol,
});

/** The service's name: the user's, else the server's. */
export const serviceName = ({ name, spec }: Server): string => {
  const { metadata } = spec.server.service ?? {};
  const own = isRecord(metadata) ? metadata["name"] : undefined;
  return typeof own === "string" && own !== "" ? own : serverName(name);
};

/** The user's service, with the server's ports and pods. */
export const service = (owner: Stored, server: Server): Obj => {
  const { metadata, spec } = server.spec.server.service ?? {};
  const given = fieldsOf(spec);
  const labels = { ...textsAt(metadata, "labels"), ...commonLabels(server.name) };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: controlled(owner, serviceName(server), labels, textsAt(metadata, "annotations")),
    spec: {
      ...given,
      ports: [
        port("driver-rpc", 7078, "tcp"),
        port("blockmanager", 7079, "tcp"),
        port("web-ui", 4040, "http"),
        port("spark-connect-server", connectPort, "grpc"),
      ],
      selector: { ...textsAt(given, "selector"), ...selectorLabels(server) },
    },
  };
};
