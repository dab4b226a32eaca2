/**
 * SparkApplication v1 and v1beta1 of `spark.apache.org`, in the shape of upstream's CRDs, and the limits of its fields.
 * Pod templates, Services, Ingresses and routes are opaque: any that the API server accepts.
 */
import * as z from "zod";
import { type Limit, limitsOf } from "../../../kube/limits.ts";
import { attemptInfo, shownState } from "./states.ts";
import { versionLimits, versionsSchema } from "./versions.ts";

const embedded = z.looseObject({});

const texts = z.record(z.string(), z.string());

/**
 * A whole number. Upstream's are Java's of 64 bits (one of its examples has 9223372036854775807), which no JavaScript
 * number holds exactly: a larger one counts as the largest that does.
 */
const whole = z
  .number()
  .refine(Number.isInteger, "write a whole number")
  .overwrite((value) => Math.max(-Number.MAX_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER)));

const templateSchema = z.looseObject({ podTemplateSpec: embedded.optional() });

const configMapSchema = z.looseObject({
  name: z.string(),
  labels: texts.optional(),
  annotations: texts.optional(),
  data: texts.optional(),
});

const served = { serviceMetadata: embedded, serviceSpec: embedded };

const ingressSchema = z.looseObject({ ...served, ingressMetadata: embedded, ingressSpec: embedded.optional() });

const httpRouteSchema = z.looseObject({ ...served, httpRouteMetadata: embedded, httpRouteSpec: embedded.optional() });

const grpcRouteSchema = z.looseObject({ ...served, grpcRouteMetadata: embedded, grpcRouteSpec: embedded.optional() });

const restartSchema = z.looseObject({
  restartPolicy: z.enum(["Always", "Never", "OnFailure", "OnInfrastructureFailure"]).optional(),
  maxRestartAttempts: whole.optional(),
  restartBackoffMillis: whole.optional(),
  restartCounterResetMillis: whole.optional(),
  maxRestartOnFailure: whole.optional(),
  restartBackoffMillisForFailure: whole.optional(),
  maxRestartOnSchedulingFailure: whole.optional(),
  restartBackoffMillisForSchedulingFailure: whole.optional(),
});

const timeoutSchema = z.looseObject({
  driverStartTimeoutMillis: whole.optional(),
  driverReadyTimeoutMillis: whole.optional(),
  executorStartTimeoutMillis: whole.optional(),
  forceTerminationGracePeriodMillis: whole.optional(),
  terminationRequeuePeriodMillis: whole.optional(),
});

const instanceSchema = z.looseObject({
  initExecutors: whole.optional(),
  minExecutors: whole.optional(),
  maxExecutors: whole.optional(),
});

const tolerationsSchema = z.looseObject({
  restartConfig: restartSchema.optional(),
  applicationTimeoutConfig: timeoutSchema.optional(),
  instanceConfig: instanceSchema.optional(),
  resourceRetainPolicy: z.enum(["Always", "OnFailure", "Never"]).optional(),
  resourceRetainDurationMillis: whole.optional(),
  ttlAfterStopMillis: whole.optional(),
});

/** `spec` of a SparkApplication. `suspend` came after release 1.0: its CRDs drop the field. */
export const apacheSpecSchema = z.looseObject({
  runtimeVersions: versionsSchema,
  mainClass: z.string().optional(),
  jars: z.string().optional(),
  pyFiles: z.string().optional(),
  sparkRFiles: z.string().optional(),
  files: z.string().optional(),
  driverArgs: z.array(z.string()).optional(),
  proxyUser: z.string().optional(),
  deploymentMode: z.enum(["ClusterMode", "ClientMode"]).optional(),
  sparkConf: texts.optional(),
  driverSpec: templateSchema.optional(),
  executorSpec: templateSchema.optional(),
  configMapSpecs: z.array(configMapSchema).optional(),
  driverServiceIngressList: z.array(ingressSchema).optional(),
  driverHttpRouteList: z.array(httpRouteSchema).optional(),
  driverGrpcRouteList: z.array(grpcRouteSchema).optional(),
  applicationTolerations: tolerationsSchema.optional(),
  suspend: z.boolean().optional(),
});

export type ApacheSpec = z.infer<typeof apacheSpecSchema>;

const stateSchema = shownState.extend({
  /** The status of the driver's pod. */
  lastObservedDriverStatus: embedded.optional(),
});

const attemptSchema = z.looseObject({
  attemptInfo: attemptInfo
    .extend({ failureRestartCounter: z.int().optional(), schedulingFailureRestartCounter: z.int().optional() })
    .optional(),
  stateTransitionHistory: z.record(z.string(), stateSchema).optional(),
});

/** `status`, which steps read with `recordIn`: a status of others changes no decision once a record exists. */
export const apacheStatusSchema = z.looseObject({
  currentState: stateSchema.optional(),
  stateTransitionHistory: z.record(z.string(), stateSchema).optional(),
  currentAttemptSummary: attemptSchema.optional(),
  previousAttemptSummary: attemptSchema.optional(),
});

const files = { characters: 65_536, why: "all names stand in the properties of the application, a ConfigMap of 1 MiB" };
const routes = { entries: 50, why: "each makes a Service and a route" };

const rows: readonly Limit[] = [
  ...versionLimits,
  { field: "mainClass", characters: 1_024, why: "no class has a longer name" },
  ...["jars", "pyFiles", "sparkRFiles", "files"].map((field) => ({ field, ...files })),
  { field: "driverArgs", entries: 10_000, why: "the arguments of a process share 2 MiB" },
  { field: "proxyUser", characters: 1_024, why: "no account has a longer name" },
  { field: "sparkConf", entries: 2_000, why: "Spark itself knows fewer than 1,000 properties" },
  {
    field: "sparkConf.*",
    characters: 65_536,
    why: "the properties of one application share a ConfigMap of 1 MiB",
  },
  { field: "configMapSpecs", entries: 100, why: "no node mounts so many into a pod" },
  { field: "configMapSpecs.*.data.*", characters: 1_048_576, why: "a ConfigMap holds 1 MiB" },
  { field: "driverServiceIngressList", ...routes },
  { field: "driverHttpRouteList", ...routes },
  { field: "driverGrpcRouteList", ...routes },
];

/** The errors of a spec that exceeds its limits. */
export const apacheLimits = limitsOf(rows);
