/** The objects that users create in a cluster, and readers of their status. */
import { isRecord } from "../../../shared/core/json.ts";
import type { Obj, Resource, Stored } from "../../../shared/core/object.ts";

/** Resources by kind. */
export const resources: Readonly<Record<string, Resource>> = {
  SparkApplication: {
    ...{ group: "sparkoperator.k8s.io", version: "v1beta2" },
    ...{ plural: "sparkapplications", kind: "SparkApplication" },
  },
  ScheduledSparkApplication: {
    ...{ group: "sparkoperator.k8s.io", version: "v1beta2" },
    ...{ plural: "scheduledsparkapplications", kind: "ScheduledSparkApplication" },
  },
  ApacheSparkApplication: {
    ...{ group: "spark.apache.org", version: "v1", plural: "sparkapplications", kind: "SparkApplication" },
    keyKind: "ApacheSparkApplication",
  },
  SparkCluster: { group: "spark.apache.org", version: "v1", plural: "sparkclusters", kind: "SparkCluster" },
  SparkConnect: {
    ...{ group: "sparkoperator.k8s.io", version: "v1alpha1" },
    ...{ plural: "sparkconnects", kind: "SparkConnect" },
  },
  Checkpoint: { group: "rekindle.dev", version: "v1alpha1", plural: "checkpoints", kind: "Checkpoint" },
  Job: { group: "batch.volcano.sh", version: "v1alpha1", plural: "jobs", kind: "Job" },
  Command: { group: "bus.volcano.sh", version: "v1alpha1", plural: "commands", kind: "Command" },
  CronJob: { group: "batch.volcano.sh", version: "v1alpha1", plural: "cronjobs", kind: "CronJob" },
  JobFlow: { group: "flow.volcano.sh", version: "v1alpha1", plural: "jobflows", kind: "JobFlow" },
  JobTemplate: { group: "flow.volcano.sh", version: "v1alpha1", plural: "jobtemplates", kind: "JobTemplate" },
  PodGroup: { group: "scheduling.volcano.sh", version: "v1beta1", plural: "podgroups", kind: "PodGroup" },
  /** PodGroups of Kubernetes, and the object that says that they are served. */
  GangOfKubernetes: { group: "scheduling.k8s.io", version: "v1beta1", plural: "podgroups", kind: "PodGroup" },
  APIService: { group: "apiregistration.k8s.io", version: "v1", plural: "apiservices", kind: "APIService" },
  Workload: { group: "kueue.x-k8s.io", version: "v1beta2", plural: "workloads", kind: "Workload" },
  ResourceFlavor: { group: "kueue.x-k8s.io", version: "v1beta2", plural: "resourceflavors", kind: "ResourceFlavor" },
  WorkloadPriorityClass: {
    ...{ group: "kueue.x-k8s.io", version: "v1beta2" },
    ...{ plural: "workloadpriorityclasses", kind: "WorkloadPriorityClass" },
  },
  PodDisruptionBudget: { group: "policy", version: "v1", plural: "poddisruptionbudgets", kind: "PodDisruptionBudget" },
  LimitRange: { group: "", version: "v1", plural: "limitranges", kind: "LimitRange" },
  RuntimeClass: { group: "node.k8s.io", version: "v1", plural: "runtimeclasses", kind: "RuntimeClass" },
  PriorityClass: { group: "scheduling.k8s.io", version: "v1", plural: "priorityclasses", kind: "PriorityClass" },
  Queue: { group: "scheduling.volcano.sh", version: "v1beta1", plural: "queues", kind: "Queue" },
  Secret: { group: "", version: "v1", plural: "secrets", kind: "Secret" },
  Pod: { group: "", version: "v1", plural: "pods", kind: "Pod" },
  Event: { group: "", version: "v1", plural: "events", kind: "Event" },
  Service: { group: "", version: "v1", plural: "services", kind: "Service" },
  NetworkPolicy: {
    ...{ group: "networking.k8s.io", version: "v1" },
    ...{ plural: "networkpolicies", kind: "NetworkPolicy" },
  },
  ConfigMap: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" },
  Namespace: { group: "", version: "v1", plural: "namespaces", kind: "Namespace" },
  Deployment: { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" },
  Lease: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" },
  CustomResourceDefinition: {
    ...{ group: "apiextensions.k8s.io", version: "v1" },
    ...{ plural: "customresourcedefinitions", kind: "CustomResourceDefinition" },
  },
};

type Made = {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
};

/** Returns a SparkApplication that runs to its end; `spec` is merged over it, and undefined removes a field. */
export const application = (name: string, { namespace = "default", spec, ...metadata }: Made = {}): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace, ...metadata },
  spec: {
    ...{ type: "Scala", mode: "cluster", sparkVersion: "4.1.1", image: "apache/spark:4.1.1" },
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    driver: { cores: 1, memory: "512m" },
    executor: { instances: 1, cores: 1, memory: "512m" },
    ...spec,
  },
});

/** Returns a schedule of such applications. */
export const schedule = (name: string, spec: Readonly<Record<string, unknown>>): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "ScheduledSparkApplication",
  metadata: { name, namespace: "default" },
  spec: { template: application(name)["spec"], ...spec },
});

const routed = (route: string, name: string) => ({
  serviceMetadata: { name: `${name}-svc` },
  serviceSpec: { ports: [{ port: 4040 }] },
  [`${route}Metadata`]: { name },
  [`${route}Spec`]: route === "ingress" ? {} : { parentRefs: [{ name: "door" }] },
});

/** Returns an application of Apache's operator, with a route of each kind and a short time to live. */
export const apacheApplication = (name: string): Obj => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkApplication",
  metadata: { name, namespace: "default", finalizers: ["sparkapplications.spark.apache.org/finalizer"] },
  spec: {
    ...{ mainClass: "org.example.Pi", jars: "local:///pi.jar", runtimeVersions: { sparkVersion: "4.2.0" } },
    sparkConf: {
      "spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}",
      "spark.kubernetes.authenticate.driver.serviceAccountName": "spark",
    },
    driverServiceIngressList: [routed("ingress", `${name}-ui`)],
    driverHttpRouteList: [routed("httpRoute", `${name}-http`)],
    driverGrpcRouteList: [routed("grpcRoute", `${name}-grpc`)],
    applicationTolerations: { ttlAfterStopMillis: 5_000 },
  },
});

/** Returns a cluster of Apache's operator with an autoscaler and a budget of its workers. */
export const sparkCluster = (name: string): Obj => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkCluster",
  metadata: { name, namespace: "default", finalizers: ["sparkclusters.spark.apache.org/finalizer"] },
  spec: {
    runtimeVersions: { sparkVersion: "4.2.0" },
    clusterTolerations: { instanceConfig: { initWorkers: 1, minWorkers: 1, maxWorkers: 2 } },
  },
});

/** Returns a server for clients of Spark Connect. */
export const connect = (name: string, spec: Readonly<Record<string, unknown>> = {}): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1alpha1",
  kind: "SparkConnect",
  metadata: { name, namespace: "default" },
  spec: { sparkVersion: "4.1.1", image: "apache/spark:4.1.1", server: {}, executor: { instances: 1 }, ...spec },
});

/** Returns a Volcano job of two workers that find each other; `script` is the script of the simulated pods. */
export const volcanoJob = (name: string, script: object, spec: Readonly<Record<string, unknown>> = {}): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    plugins: { svc: [], ssh: ["--ssh-private-key=mine", "--ssh-public-key=yours"] },
    tasks: [
      {
        name: "worker",
        replicas: 2,
        template: {
          metadata: { annotations: { "simulator.rekindle.dev/script": JSON.stringify(script) } },
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] },
        },
      },
    ],
    ...spec,
  },
});

/** Returns a job of two pods that need a core each. */
export const twoCores = (name: string, runMs: number, spec: Readonly<Record<string, unknown>> = {}): Obj => {
  const [task] = Object(volcanoJob(name, { runMs })["spec"])["tasks"];
  const resources = { requests: { cpu: "1" } };
  const pod = { ...task.template.spec, containers: [{ name: "main", image: "busybox", resources }] };
  return volcanoJob(
    name,
    {},
    { plugins: {}, tasks: [{ ...task, template: { ...task.template, spec: pod } }], ...spec },
  );
};

/** Returns a Command for a job or a queue, as vcctl writes it. */
export const command = (name: string, action: string, { apiVersion, kind, metadata }: Stored): Obj => ({
  apiVersion: "bus.volcano.sh/v1alpha1",
  kind: "Command",
  metadata: { name, namespace: metadata.namespace ?? "default" },
  ...{ action, target: { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true } },
});

/** Returns a flow of templates, each after the one before, and those templates, whose jobs are as above. */
export const jobFlow = (name: string, templates: readonly string[], script: object): readonly Obj[] => {
  const flows = templates.map((template, at) => ({
    name: template,
    ...(at === 0 ? {} : { dependsOn: { targets: [templates[at - 1]] } }),
  }));
  const metadata = { namespace: "default" };
  const apiVersion = "flow.volcano.sh/v1alpha1";
  const { spec } = volcanoJob("", script);
  return [
    ...templates.map((template) => ({
      apiVersion,
      kind: "JobTemplate",
      metadata: { ...metadata, name: template },
      spec,
    })),
    { apiVersion, kind: "JobFlow", metadata: { ...metadata, name }, spec: { flows, jobRetainPolicy: "delete" } },
  ];
};

/** Returns a CronJob that runs such a job every minute. */
export const cronJob = (name: string, script: object, spec: Readonly<Record<string, unknown>> = {}): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "CronJob",
  metadata: { name, namespace: "default" },
  spec: { schedule: "* * * * *", jobTemplate: { spec: volcanoJob("", script)["spec"] }, ...spec },
});

/** The namespace of the records of cluster-scoped objects. */
export const home: Obj = { apiVersion: "v1", kind: "Namespace", metadata: { name: "rekindle" } };

/** The default queue, for jobs that name none. */
export const queue: Obj = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "default" },
  spec: {},
  status: { state: "Open" },
};

/** Returns the value at a path of fields; undefined where there is none. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);

/** Returns the state of an application, or its error message. */
export const stateOf = (object: Stored | undefined): string =>
  String(at(object, "status", "applicationState", "state") ?? "");

export const errorOf = (object: Stored | undefined): string =>
  String(at(object, "status", "applicationState", "errorMessage") ?? "");

/** Returns the reason that follows upstream's words for a failed submission. */
export const refusalOf = (object: Stored | undefined): string => {
  const error = errorOf(object);
  return /^failed to run spark-submit: (.*)$/s.exec(error)?.[1] ?? `no failed submission: ${error}`;
};

export const statusOf = (object: Stored | undefined, field: string): unknown => at(object, "status", field);

/** Returns the CRD of applications or jobs without validation, so that every object is stored. */
export const loose = (crd: Obj): Obj => {
  const everything = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const changed = JSON.parse(JSON.stringify(crd), (key, value) => (key === "schema" ? everything : value));
  return /^(sparkapplications|jobs)\./.test(crd.metadata.name) ? changed : crd;
};
