/** ScheduledSparkApplication v1beta2, in the shape of upstream's CRD. */
import * as z from "zod";
import { specSchema } from "./application.ts";

const time = z.string().meta({ format: "date-time" });

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
