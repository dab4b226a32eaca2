/**
 * The objects of a SparkCluster: a StatefulSet and a headless Service of its master and of its workers, the policy of the
 * workers' network, and their autoscaler and disruption budget. They are upstream's, but for the selectors of the
 * StatefulSets, which name the cluster: two clusters of one namespace share no pod. Pure.
 */
import { digestOf, fieldsOf, recordsIn, textsIn } from "../../core/json.ts";
import type { Metadata, Obj, OwnerReference } from "../../core/object.ts";
import type { Json } from "../../kube/responses.ts";
import { clusterLabel } from "./parts.ts";
import type { ClusterSpec } from "./schema.ts";

export type Cluster = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly spec: ClusterSpec;
  /** The value of the label `spark.operator/name`. */
  readonly operatorName: string;
};

type Role = "master" | "worker";

type Labels = Readonly<Record<string, string>>;

/** The annotation with the digest of what an object was made of: a changed spec changes it. */
export const specAnnotation = "rekindle.dev/spec";

const defaultImage = "apache/spark:4.2.0";

const commonLabels = ({ name, spec, operatorName }: Cluster): Labels => ({
  "spark.operator/name": operatorName,
  [clusterLabel]: name,
  "spark-version": spec.runtimeVersions.sparkVersion,
});

/** The labels by which the pods of a role are found. */
const podsOf = (role: Role, { name }: Cluster): Labels => ({ "spark-role": role, [clusterLabel]: name });

const ownerOf = ({ name, uid }: Cluster): OwnerReference => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkCluster",
  name,
  uid,
  blockOwnerDeletion: true,
});

/** An object of the cluster. Of the user's metadata only labels and annotations stay. */
const objectOf = (
  cluster: Cluster,
  type: Pick<Obj, "apiVersion" | "kind">,
  { name, labels = {}, written }: { readonly name: string; readonly labels?: Labels; readonly written?: unknown },
  spec: Json,
): Obj => {
  const given = fieldsOf(written);
  const all = { ...textsIn(given["labels"]), ...commonLabels(cluster), ...labels };
  const annotations = textsIn(given["annotations"]);
  const metadata: Metadata = {
    name,
    namespace: cluster.namespace,
    labels: all,
    annotations: { ...annotations, [specAnnotation]: digestOf([all, annotations, spec]).slice(0, 16) },
    ownerReferences: [ownerOf(cluster)],
  };
  return { ...type, metadata, spec };
};

/** The version stands for its placeholder in the image alone. */
const imageOf = ({ spec }: Cluster): string =>
  (spec.sparkConf?.["spark.kubernetes.container.image"] ?? defaultImage).replaceAll(
    "{{SPARK_VERSION}}",
    spec.runtimeVersions.sparkVersion,
  );

/** All confs as properties of a JVM; upstream's order is any, and it ends with a space. */
const optionsOf = (cluster: Cluster): string => {
  const confs: Labels = {
    "spark.shuffle.service.enabled": "true",
    ...cluster.spec.sparkConf,
    "spark.kubernetes.namespace": cluster.namespace,
    ...(cluster.spec.sparkConf?.["spark.kubernetes.container.image"] === undefined
      ? {}
      : { "spark.kubernetes.container.image": imageOf(cluster) }),
  };
  return Object.entries(confs)
    .map(([key, value]) => `-D${key}="${value}" `)
    .join("");
};

const port = (name: string, number: number) => ({ name, port: number, targetPort: name });

const portsOf: Readonly<Record<Role, readonly ReturnType<typeof port>[]>> = {
  master: [port("web", 8_080), port("spark", 7_077), port("rest", 6_066)],
  worker: [port("web", 8_081)],
};

const sbin = "/opt/spark/sbin";

/** Starts the daemon, and ends when it does. */
const running = (start: string, className: string): string =>
  `${sbin}/${start} && while ${sbin}/spark-daemon.sh status org.apache.spark.deploy.${className} 1; do sleep 1; done`;

const containerOf = (role: Role, cluster: Cluster): Json => {
  const isMaster = role === "master";
  const options = optionsOf(cluster);
  return {
    name: role,
    image: imageOf(cluster),
    command: ["bash"],
    args: [
      "-c",
      isMaster
        ? running("start-master.sh", "master.Master")
        : running(`start-worker.sh spark://${cluster.name}-master-svc:7077`, "worker.Worker"),
    ],
    env: isMaster
      ? [{ name: "SPARK_MASTER_OPTS", value: options }]
      : [
          { name: "SPARK_LOG_DIR", value: "/opt/spark/work/logs" },
          { name: "SPARK_WORKER_OPTS", value: options },
        ],
    ports: portsOf[role].map(({ name, port: containerPort }) => ({ containerPort, name })),
  };
};

/** No container may raise its privileges, unless its template says so. */
const shielded = (container: Json): Json => ({
  ...container,
  securityContext: { allowPrivilegeEscalation: false, ...fieldsOf(container["securityContext"]) },
});

/** The container of the role's name in the template, or a new one after the others; its lists are added to. */
const containersOf = (role: Role, cluster: Cluster, given: readonly Json[]): readonly Json[] => {
  const own = containerOf(role, cluster);
  const merged = (one: Json): Json => ({
    ...one,
    ...own,
    env: [...recordsIn(one["env"]), ...recordsIn(own["env"])],
    ports: [...recordsIn(one["ports"]), ...recordsIn(own["ports"])],
  });
  const isIn = given.some(({ name }) => name === role);
  return (isIn ? given.map((one) => (one["name"] === role ? merged(one) : one)) : [...given, own]).map(shielded);
};

const templateOf = (role: Role, cluster: Cluster, written: unknown): Json => {
  const { metadata, spec } = fieldsOf(written);
  const [meta, given] = [fieldsOf(metadata), fieldsOf(spec)];
  const { name, namespace, spec: of } = cluster;
  const inits = recordsIn(given["initContainers"]);
  return {
    metadata: {
      ...(meta["annotations"] === undefined ? {} : { annotations: textsIn(meta["annotations"]) }),
      labels: {
        ...textsIn(meta["labels"]),
        ...podsOf(role, cluster),
        "spark-version": of.runtimeVersions.sparkVersion,
      },
    },
    spec: {
      ...given,
      schedulerName: of.sparkConf?.["spark.kubernetes.scheduler.name"] ?? "default-scheduler",
      terminationGracePeriodSeconds: 0,
      ...(role === "master" ? {} : { dnsConfig: { searches: [`${name}-worker-svc.${namespace}.svc.cluster.local`] } }),
      ...(inits.length === 0 ? {} : { initContainers: inits.map(shielded) }),
      containers: containersOf(role, cluster, recordsIn(given["containers"])),
    },
  };
};

const writtenOf = (role: Role, { spec }: Cluster) => (role === "master" ? spec.masterSpec : spec.workerSpec) ?? {};

const serviceOf = (role: Role, cluster: Cluster): Obj => {
  const { serviceSpec, serviceMetadata } = writtenOf(role, cluster);
  const given = fieldsOf(serviceSpec);
  return objectOf(
    cluster,
    { apiVersion: "v1", kind: "Service" },
    { name: `${cluster.name}-${role}-svc`, labels: { "spark-role": role }, written: serviceMetadata },
    {
      ...given,
      clusterIP: "None",
      selector: { ...textsIn(given["selector"]), ...podsOf(role, cluster) },
      ports: [...recordsIn(given["ports"]), ...portsOf[role]],
    },
  );
};

const setOf = (role: Role, cluster: Cluster): Obj => {
  const { statefulSetSpec, statefulSetMetadata } = writtenOf(role, cluster);
  const given = fieldsOf(statefulSetSpec);
  const { initWorkers } = cluster.spec.clusterTolerations.instanceConfig;
  return objectOf(
    cluster,
    { apiVersion: "apps/v1", kind: "StatefulSet" },
    { name: `${cluster.name}-${role}`, labels: { "spark-role": role }, written: statefulSetMetadata },
    {
      ...given,
      replicas: role === "master" ? 1 : initWorkers,
      podManagementPolicy: "Parallel",
      ...(role === "master" ? {} : { serviceName: `${cluster.name}-worker-svc` }),
      selector: { matchLabels: podsOf(role, cluster) },
      template: templateOf(role, cluster, given["template"]),
    },
  );
};

/** Workers answer the pods of their cluster, and any driver of the namespace. */
const policyOf = (cluster: Cluster): Obj =>
  objectOf(
    cluster,
    { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" },
    { name: `${cluster.name}-worker` },
    {
      podSelector: { matchLabels: podsOf("worker", cluster) },
      ingress: [
        {
          from: [
            { podSelector: { matchLabels: { [clusterLabel]: cluster.name } } },
            { podSelector: { matchLabels: { "spark-role": "driver" } } },
          ],
        },
      ],
    },
  );

/** True where an autoscaler decides the number of workers. */
export const isScaled = ({ clusterTolerations: { instanceConfig } }: ClusterSpec): boolean =>
  instanceConfig.minWorkers < instanceConfig.maxWorkers;

const stepOf = (seconds: number) => ({ policies: [{ type: "Pods", value: 1, periodSeconds: seconds }] });

const scaling = {
  metrics: [
    {
      type: "ContainerResource",
      containerResource: { container: "worker", name: "cpu", target: { type: "Utilization", averageUtilization: 30 } },
    },
  ],
  behavior: { scaleUp: stepOf(60), scaleDown: stepOf(600) },
};

const autoscalerOf = (cluster: Cluster): Obj => {
  const { minWorkers, maxWorkers } = cluster.spec.clusterTolerations.instanceConfig;
  return objectOf(
    cluster,
    { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" },
    { name: `${cluster.name}-worker-hpa` },
    {
      ...(cluster.spec.workerSpec?.horizontalPodAutoscalerSpec ?? scaling),
      scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: `${cluster.name}-worker` },
      minReplicas: minWorkers,
      maxReplicas: maxWorkers,
    },
  );
};

const budgetOf = (cluster: Cluster): Obj =>
  objectOf(
    cluster,
    { apiVersion: "policy/v1", kind: "PodDisruptionBudget" },
    { name: `${cluster.name}-worker-pdb` },
    { minAvailable: 1, selector: { matchLabels: podsOf("worker", cluster) } },
  );

/** The objects of a cluster, in the order of their creation. */
export const clusterObjects = (cluster: Cluster): readonly Obj[] => [
  serviceOf("master", cluster),
  serviceOf("worker", cluster),
  setOf("master", cluster),
  setOf("worker", cluster),
  policyOf(cluster),
  ...(isScaled(cluster.spec) ? [autoscalerOf(cluster)] : []),
  ...(cluster.spec.clusterTolerations.instanceConfig.minWorkers >= 1 ? [budgetOf(cluster)] : []),
];
