/** SparkApplication v1beta2: its spec, in the shape of upstream's CRD. */
import * as z from "zod";
import { driverSchema, executorSchema } from "./pod.ts";

const embedded = z.looseObject({});
const texts = z.record(z.string(), z.string());
const list = z.array(z.string());

const deps = z.looseObject({
  jars: list.optional(),
  files: list.optional(),
  pyFiles: list.optional(),
  packages: list.optional(),
  excludePackages: list.optional(),
  repositories: list.optional(),
  archives: list.optional(),
});

export const restartPolicySchema = z.looseObject({
  type: z.enum(["Never", "Always", "OnFailure"]).optional(),
  onSubmissionFailureRetries: z.int32().min(0).optional(),
  onFailureRetries: z.int32().min(0).optional(),
  onSubmissionFailureRetryInterval: z.int().min(1).optional(),
  onFailureRetryInterval: z.int().min(1).optional(),
});

const prometheus = z.looseObject({
  jmxExporterJar: z.string(),
  port: z.int32().min(1024).max(49151).optional(),
  portName: z.string().optional(),
  configFile: z.string().optional(),
  configuration: z.string().optional(),
});

const monitoring = z.looseObject({
  exposeDriverMetrics: z.boolean(),
  exposeExecutorMetrics: z.boolean(),
  metricsProperties: z.string().optional(),
  metricsPropertiesFile: z.string().optional(),
  prometheus: prometheus.optional(),
});

const batchSchedulerOptions = z.looseObject({
  queue: z.string().optional(),
  priorityClassName: z.string().optional(),
  resources: z.record(z.string(), z.union([z.int(), z.string()])).optional(),
});

const servedPort = {
  serviceType: z.string().optional(),
  serviceAnnotations: texts.optional(),
  serviceLabels: texts.optional(),
  ingressAnnotations: texts.optional(),
  ingressTLS: z.array(embedded).optional(),
};

const sparkUI = z.looseObject({
  ...servedPort,
  servicePort: z.int32().optional(),
  servicePortName: z.string().optional(),
});

const driverIngress = z.looseObject({
  ...servedPort,
  servicePort: z.int32(),
  servicePortName: z.string(),
  ingressURLFormat: z.string().optional(),
});

export const dynamicAllocationSchema = z.looseObject({
  enabled: z.boolean().optional(),
  initialExecutors: z.int32().optional(),
  minExecutors: z.int32().optional(),
  maxExecutors: z.int32().optional(),
  shuffleTrackingEnabled: z.boolean().optional(),
  shuffleTrackingTimeout: z.int().optional(),
});

/** `spec` of a SparkApplication, and `spec.template` of a ScheduledSparkApplication. */
export const specSchema = z.looseObject({
  suspend: z.boolean().optional(),
  type: z.enum(["Java", "Python", "Scala", "R"]),
  sparkVersion: z.string(),
  mode: z.enum(["cluster", "client"]).optional(),
  proxyUser: z.string().optional(),
  image: z.string().optional(),
  imagePullPolicy: z.string().optional(),
  imagePullSecrets: list.optional(),
  mainClass: z.string().optional(),
  mainApplicationFile: z.string(),
  arguments: list.optional(),
  sparkConf: texts.optional(),
  hadoopConf: texts.optional(),
  sparkConfigMap: z.string().optional(),
  hadoopConfigMap: z.string().optional(),
  volumes: z.array(embedded).optional(),
  driver: driverSchema,
  executor: executorSchema,
  deps: deps.optional(),
  restartPolicy: restartPolicySchema.optional(),
  nodeSelector: texts.optional(),
  failureRetries: z.int32().optional(),
  retryInterval: z.int().optional(),
  pythonVersion: z.enum(["2", "3"]).optional(),
  memoryOverheadFactor: z.string().optional(),
  monitoring: monitoring.optional(),
  batchScheduler: z.string().optional(),
  batchSchedulerOptions: batchSchedulerOptions.optional(),
  timeToLiveSeconds: z.int().optional(),
  sparkUIOptions: sparkUI.optional(),
  driverIngressOptions: z.array(driverIngress).optional(),
  dynamicAllocation: dynamicAllocationSchema.optional(),
  driverPodDisruptionBudget: z.boolean().optional(),
});

export type SparkApplicationSpec = z.infer<typeof specSchema>;
export type RestartPolicy = z.infer<typeof restartPolicySchema>;
export type Monitoring = z.infer<typeof monitoring>;
