/** The memory of a CronJob: the time up to which all times are taken, and the job that was decided on. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { instant } from "../../kube/instant.ts";
import { withoutNulls } from "../schema/absent.ts";
import { cronStatusSchema } from "../schema/cron.ts";

const memory = z.object({
  /** Digest of schedule and time zone that `since` counts for. */
  timing: z.string(),
  /** Times up to this one are taken, or from before the schedule; epoch ms. */
  since: instant,
  /** The time that was taken last, epoch ms. */
  taken: instant.optional(),
  /** A job that was decided on and saved but not seen yet; steps create it until one sees it. */
  starting: z.object({ name: z.string(), tick: instant }).optional(),
  /** The newest end of a job that was completed, epoch ms: the job may be gone. */
  succeeded: instant.optional(),
  /** Why the API server refused the job of the last time. */
  refusal: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = readerOf("CronJob", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

export type Status = z.infer<typeof cronStatusSchema>;

export const statusOf = (object: Stored): Status =>
  cronStatusSchema.safeParse(withoutNulls(object["status"] ?? {})).data ?? {};

/** Makes the memory of a CronJob without a record from its status, so that no time is taken again. */
export const seeded = (object: Stored, timing: string, now: number): Memory => {
  const { lastScheduleTime, lastSuccessfulTime } = statusOf(object);
  const [taken, succeeded] = [instantOf(lastScheduleTime), instantOf(lastSuccessfulTime)];
  return {
    timing,
    since: taken ?? instantOf(object.metadata.creationTimestamp) ?? now,
    ...(taken === undefined ? {} : { taken }),
    ...(succeeded === undefined ? {} : { succeeded }),
  };
};
