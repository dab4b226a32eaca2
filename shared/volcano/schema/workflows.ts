/**
 * The schemas of the specs and statuses of CronJob and JobFlow. The template of a CronJob's jobs is passed on
 * unchanged, as are a flow's patches, to be merged into templates.
 */
import * as z from "zod";

const texts = z.record(z.string(), z.string());

const int32 = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);

const time = z.string().meta({ format: "date-time" }).optional();

export const jobMetadataSchema = z.looseObject({
  name: z.string().optional(),
  namespace: z.string().optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  finalizers: z.array(z.string()).optional(),
});

export const cronSpecSchema = z.looseObject({
  schedule: z.string(),
  timeZone: z.string().optional(),
  /** Whole seconds. */
  startingDeadlineSeconds: z.int().optional(),
  concurrencyPolicy: z.string().optional(),
  suspend: z.boolean().optional(),
  jobTemplate: z.looseObject({
    metadata: jobMetadataSchema.optional(),
    spec: z.record(z.string(), z.unknown()).optional(),
  }),
  successfulJobsHistoryLimit: int32.optional(),
  failedJobsHistoryLimit: int32.optional(),
});

const reference = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  namespace: z.string().optional(),
  name: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  fieldPath: z.string().optional(),
});

export const cronStatusSchema = z.looseObject({
  active: z.array(reference).optional(),
  lastScheduleTime: time,
  lastSuccessfulTime: time,
});

const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const port = z.int().min(0).max(65_535);

const httpGet = z.looseObject({
  taskName: z.string().optional(),
  path: z.string().optional(),
  port: port.optional(),
  httpHeader: z.looseObject({ name: z.string(), value: z.string() }).optional(),
});

const tcpSocket = z.looseObject({ taskName: z.string().optional(), port });

const taskStatus = z.looseObject({ taskName: z.string().optional(), phase: z.string().optional() });

const probe = z.looseObject({
  httpGetList: z.array(httpGet).optional(),
  tcpSocketList: z.array(tcpSocket).optional(),
  taskStatusList: z.array(taskStatus).optional(),
});

export const flowSchema = z.looseObject({
  name: z.string(),
  dependsOn: z.looseObject({ targets: z.array(z.string()).optional(), probe: probe.optional() }).optional(),
  patch: z.looseObject({ jobSpec: z.record(z.string(), z.unknown()).optional() }).optional(),
});

export const flowSpecSchema = z.looseObject({
  flows: z.array(flowSchema).optional(),
  jobRetainPolicy: z.string().optional(),
});

export type Flow = z.infer<typeof flowSchema>;
export type Probe = z.infer<typeof probe>;

const names = z.array(z.string()).optional();

const history = z.looseObject({ startTimestamp: time, endTimestamp: time, state: z.string().optional() });

const jobStatus = z.looseObject({
  name: z.string().optional(),
  state: z.string().optional(),
  startTimestamp: time,
  endTimestamp: time,
  restartCount: count.optional(),
  runningHistories: z.array(history).optional(),
});

const condition = z.looseObject({
  phase: z.string().optional(),
  createTime: time,
  runningDuration: z.string().optional(),
  taskStatusCount: z.record(z.string(), z.looseObject({ phase: z.record(z.string(), int32).optional() })).optional(),
});

export const flowPhases = ["Pending", "Running", "Succeed", "Failed"] as const;

export type FlowPhase = (typeof flowPhases)[number];

export const flowStatusSchema = z.looseObject({
  pendingJobs: names,
  runningJobs: names,
  failedJobs: names,
  completedJobs: names,
  terminatedJobs: names,
  unKnowJobs: names,
  jobStatusList: z.array(jobStatus).optional(),
  conditions: z.record(z.string(), condition).optional(),
  state: z.looseObject({ phase: z.enum([...flowPhases, "Terminating"]).optional() }).optional(),
});

export const templateStatusSchema = z.looseObject({ jobDependsOnList: names });
