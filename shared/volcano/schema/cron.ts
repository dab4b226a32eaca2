/** The schemas of a CronJob's spec and status. The template of its jobs is passed on unchanged. */
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
