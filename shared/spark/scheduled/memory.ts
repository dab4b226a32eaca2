/** What a schedule's steps remember of each other: which time is next, and which run was decided on. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { instant } from "../../kube/instant.ts";

/** A run that was handed out: its name, the time of the schedule that it stands for, and when that was decided, epoch ms. */
const run = z.object({
  name: z.string(),
  tick: instant,
  at: instant,
  /** Others are still to be ended for it. */
  replaces: z.boolean().optional(),
});

const memory = z.object({
  /** Digest of schedule and time zone that `nextRun` was computed from; "" when it has to be computed anew. */
  timing: z.string(),
  /** Epoch ms; absent while there is no valid schedule. */
  nextRun: instant.optional(),
  /** Decided on and saved, but not seen yet: it is created, again if need be. */
  starting: run.optional(),
  lastRun: run.optional(),
  /** Why the server took no run of the last time. */
  refusal: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;

/** Reads a stored memory; what does not fit is told field by field. */
export const parseMemory = readerOf("ScheduledSparkApplication", memory);

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

const status = z.looseObject({
  scheduleState: z.string().optional(),
  lastRun: z.string().nullish(),
  nextRun: z.string().nullish(),
  lastRunName: z.string().optional(),
});

/**
 * The first memory, from what a status says: a time that another controller has promised, or that a lost record has,
 * is kept to. `timing` is that of the spec as it is.
 */
export const adopted = (object: Stored, timing: string): Memory => {
  const { data } = status.safeParse(object["status"] ?? {});
  if (data === undefined) return { timing: "" };
  const [nextRun, at] = [instantOf(data.nextRun), instantOf(data.lastRun)];
  const lastRun =
    at === undefined || data.lastRunName === undefined ? {} : { lastRun: { name: data.lastRunName, tick: at, at } };
  if (data.scheduleState !== "Scheduled" || nextRun === undefined) return { timing: "", ...lastRun };
  return { timing, nextRun, ...lastRun };
};
