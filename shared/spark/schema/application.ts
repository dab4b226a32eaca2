/**
 * SparkApplication and ScheduledSparkApplication v1beta2, and SparkConnect v1alpha1, in the shape of upstream's CRDs.
 * Of a SparkConnect own fields are typed, pod templates and the service opaque.
 */
import * as z from "zod";

/** An embedded core/v1 object: any that the API server accepts. */
const embedded = z.looseObject({});

const texts = z.record(z.string(), z.string());

const nameAndPath = z.looseObject({ name: z.string(), path: z.string() });

const secret = z.looseObject({ name: z.string(), path: z.string(), secretType: z.string() });

const secretKey = z.looseObject({ name: z.string(), key: z.string() });

const gpu = z.looseObject({ name: z.string(), quantity: z.int() });

const port = z.looseObject({ name: z.string(), protocol: z.string(), containerPort: z.int32() });

const podSchema = z.looseObject({
  template: embedded.optional(),
  cores: z.int32().min(1).optional(),
  coreRequest: z.string().optional(),
  coreLimit: z.string().optional(),
  memory: z.string().optional(),
  memoryOverhead: z.string().optional(),
  memoryLimit: z.string().optional(),
  gpu: gpu.optional(),
  image: z.string().optional(),
  configMaps: z.array(nameAndPath).optional(),
  secrets: z.array(secret).optional(),
  env: z.array(embedded).optional(),
  envVars: texts.optional(),
  envFrom: z.array(embedded).optional(),
  envSecretKeyRefs: z.record(z.string(), secretKey).optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  volumeMounts: z.array(embedded).optional(),
  affinity: embedded.optional(),
  tolerations: z.array(embedded).optional(),
  podSecurityContext: embedded.optional(),
  securityContext: embedded.optional(),
  schedulerName: z.string().optional(),
  sidecars: z.array(embedded).optional(),
  initContainers: z.array(embedded).optional(),
  hostNetwork: z.boolean().optional(),
  nodeSelector: texts.optional(),
  dnsConfig: embedded.optional(),
  terminationGracePeriodSeconds: z.int().optional(),
  serviceAccount: z.string().optional(),
  hostAliases: z.array(embedded).optional(),
  shareProcessNamespace: z.boolean().optional(),
  javaOptions: z.string().optional(),
  lifecycle: embedded.optional(),
  ports: z.array(port).optional(),
  priorityClassName: z.string().optional(),
});

/** `spec.driver`. The pattern is as loose as upstream's, whose own is unanchored. */
const driverSchema = z.looseObject({
  ...podSchema.shape,
  podName: z
    .string()
    .regex(/[a-z0-9]/)
    .optional(),
  kubernetesMaster: z.string().optional(),
  serviceAnnotations: texts.optional(),
  serviceLabels: texts.optional(),
});

/** `spec.executor`. */
const executorSchema = z.looseObject({
  ...podSchema.shape,
  instances: z.int32().min(1).optional(),
  deleteOnTermination: z.boolean().optional(),
});

/** The fields of both roles. */
export type SparkPodSpec = z.infer<typeof podSchema>;

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

const restartPolicySchema = z.looseObject({
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

const dynamicAllocationSchema = z.looseObject({
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

const time = z.string().meta({ format: "date-time" });

const driverInfo = z.looseObject({
  podName: z.string().optional(),
  webUIAddress: z.string().optional(),
  webUIIngressAddress: z.string().optional(),
  webUIIngressName: z.string().optional(),
  webUIPort: z.int32().optional(),
  webUIServiceName: z.string().optional(),
});

/** `status` of a SparkApplication. The CRD accepts any text as a state. */
export const statusSchema = z.looseObject({
  sparkApplicationId: z.string().optional(),
  submissionID: z.string().optional(),
  lastSubmissionAttemptTime: time.nullable().optional(),
  terminationTime: time.nullable().optional(),
  driverInfo,
  applicationState: z.looseObject({ state: z.string(), errorMessage: z.string().optional() }).optional(),
  executorState: z.record(z.string(), z.string()).optional(),
  executionAttempts: z.int32().optional(),
  submissionAttempts: z.int32().optional(),
});

export const scheduledSpecSchema = z.looseObject({
  schedule: z.string(),
  timeZone: z.string().optional(),
  template: specSchema,
  suspend: z.boolean().optional(),
  concurrencyPolicy: z.string().optional(),
  successfulRunHistoryLimit: z.int32().optional(),
  failedRunHistoryLimit: z.int32().optional(),
});

export const scheduledStatusSchema = z.looseObject({
  lastRun: time.nullable().optional(),
  nextRun: time.nullable().optional(),
  lastRunName: z.string().optional(),
  pastSuccessfulRunNames: z.array(z.string()).optional(),
  pastFailedRunNames: z.array(z.string()).optional(),
  scheduleState: z.string().optional(),
  reason: z.string().optional(),
});

const role = {
  cores: z.int32().min(1).optional(),
  memory: z.string().optional(),
  template: embedded.optional(),
};

export const connectSpecSchema = z.looseObject({
  sparkVersion: z.string(),
  image: z.string().optional(),
  sparkConf: texts.optional(),
  hadoopConf: texts.optional(),
  server: z.looseObject({ ...role, service: embedded.optional() }),
  executor: z.looseObject({ ...role, instances: z.int32().min(0).optional() }),
  dynamicAllocation: dynamicAllocationSchema.optional(),
});

export type SparkConnectSpec = z.infer<typeof connectSpecSchema>;

/** A string, because a regular expression would appear in the schema with escaped slashes. */
const conditionType =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

const condition = z.looseObject({
  type: z.string().max(316).meta({ pattern: conditionType }),
  status: z.enum(["True", "False", "Unknown"]),
  observedGeneration: z.int().min(0).optional(),
  lastTransitionTime: time,
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32768),
});

export const connectStatusSchema = z.looseObject({
  conditions: z.array(condition).optional(),
  state: z.string().optional(),
  server: z
    .looseObject({
      podName: z.string().optional(),
      podIp: z.string().optional(),
      serviceName: z.string().optional(),
    })
    .optional(),
  executors: z.record(z.string(), z.int()).optional(),
  startTime: time.optional(),
  lastUpdateTime: time.optional(),
});
