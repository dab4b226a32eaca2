/** A job's status as upstream's users and tools read it. */
import * as z from "zod";
import { phases } from "./resource.ts";

const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .optional();

const time = z.string().meta({ format: "date-time" }).optional();

export const statusSchema = z.looseObject({
  state: z
    .looseObject({
      phase: z.enum(phases).optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      lastTransitionTime: time,
    })
    .optional(),
  minAvailable: count,
  taskStatusCount: z
    .record(
      z.string(),
      z.looseObject({
        phase: z
          .record(
            z.string(),
            z
              .int()
              .min(-(2 ** 31))
              .max(2 ** 31 - 1),
          )
          .optional(),
      }),
    )
    .optional(),
  pending: count,
  running: count,
  succeeded: count,
  failed: count,
  terminating: count,
  unknown: count,
  version: count,
  retryCount: count,
  runningDuration: z.string().optional(),
  controlledResources: z.record(z.string(), z.string()).optional(),
  conditions: z.array(z.looseObject({ status: z.string(), lastTransitionTime: time })).optional(),
});
