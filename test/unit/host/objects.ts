/** What users put into a cluster, and how a test reads it back. */
import type { Obj, Resource, Stored } from "../../../shared/core/object.ts";
import { isRecord } from "../../../shared/kube/responses.ts";

/** kind → where it stands. */
export const resources: Readonly<Record<string, Resource>> = {
  SparkApplication: {
    ...{ group: "sparkoperator.k8s.io", version: "v1beta2" },
    ...{ plural: "sparkapplications", kind: "SparkApplication" },
  },
  ScheduledSparkApplication: {
    ...{ group: "sparkoperator.k8s.io", version: "v1beta2" },
    ...{ plural: "scheduledsparkapplications", kind: "ScheduledSparkApplication" },
  },
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

/** A SparkApplication that runs to its end; `spec` is merged over it, undefined takes a field away. */
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

/** A schedule of such applications. */
export const schedule = (name: string, spec: Readonly<Record<string, unknown>>): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "ScheduledSparkApplication",
  metadata: { name, namespace: "default" },
  spec: { template: application(name)["spec"], ...spec },
});

/** A server for clients of Spark Connect. */
export const connect = (name: string, spec: Readonly<Record<string, unknown>> = {}): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1alpha1",
  kind: "SparkConnect",
  metadata: { name, namespace: "default" },
  spec: { sparkVersion: "4.1.1", image: "apache/spark:4.1.1", server: {}, executor: { instances: 1 }, ...spec },
});

/** A Volcano job of two workers that find each other; `script` says how the simulated pods live. */
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

/** What vcctl writes to have something done to a job or a queue. */
export const command = (name: string, action: string, { apiVersion, kind, metadata }: Stored): Obj => ({
  apiVersion: "bus.volcano.sh/v1alpha1",
  kind: "Command",
  metadata: { name, namespace: metadata.namespace ?? "default" },
  ...{ action, target: { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true } },
});

/** A flow of templates, each after the one before, and those templates: jobs as above. */
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

/** Such a job every minute. */
export const cronJob = (name: string, script: object, spec: Readonly<Record<string, unknown>> = {}): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "CronJob",
  metadata: { name, namespace: "default" },
  spec: { schedule: "* * * * *", jobTemplate: { spec: volcanoJob("", script)["spec"] }, ...spec },
});

/** Where the records stand of what stands in no namespace. */
export const home: Obj = { apiVersion: "v1", kind: "Namespace", metadata: { name: "rekindle" } };

/** The queue that jobs go to when they name none. */
export const queue: Obj = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "default" },
  spec: {},
  status: { state: "Open" },
};

const within = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);

/** The state that an application shows, and what it says went wrong. */
export const stateOf = (object: Stored | undefined): string =>
  String(within(object, "status", "applicationState", "state") ?? "");

export const errorOf = (object: Stored | undefined): string =>
  String(within(object, "status", "applicationState", "errorMessage") ?? "");

/** What it says behind upstream's words for a failed submission. */
export const refusalOf = (object: Stored | undefined): string => {
  const error = errorOf(object);
  return /^failed to run spark-submit: (.*)$/s.exec(error)?.[1] ?? `no failed submission: ${error}`;
};

export const statusOf = (object: Stored | undefined, field: string): unknown => within(object, "status", field);

/** The CRD as those install it who do without validation: everything is stored. */
export const loose = (crd: Obj): Obj => {
  const everything = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const changed = JSON.parse(JSON.stringify(crd), (key, value) => (key === "schema" ? everything : value));
  return /^(sparkapplications|jobs)\./.test(crd.metadata.name) ? changed : crd;
};
