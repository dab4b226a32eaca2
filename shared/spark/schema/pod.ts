/** The driver and executor fields of a SparkApplication: upstream's own fields typed, core/v1 types opaque. */
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
export const driverSchema = z.looseObject({
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
export const executorSchema = z.looseObject({
  ...podSchema.shape,
  instances: z.int32().min(1).optional(),
  deleteOnTermination: z.boolean().optional(),
});

/** The fields of both roles. */
export type SparkPodSpec = z.infer<typeof podSchema>;
