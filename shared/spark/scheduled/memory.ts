/** The memory of a schedule: its next time, and the run that was decided; and its recovery. */

import * as z from "zod";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import type { OwnedObjects, Rebuilt, Recovery, Remains } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { createdAt } from "../../kube/history.ts";
import { instant } from "../../kube/schema.ts";
import { timingOf } from "./read.ts";
import { runsOf, sortOut, stateOf } from "./runs.ts";

/** A decided run: its name, its time of the schedule, and the time of the decision, epoch ms. */
const run = z.object({
  name: z.string(),
  tick: instant,
  at: instant,
  /** Other runs are still to be deleted for it. */
  replaces: z.boolean().optional(),
});

const memory = z.object({
  /** Digest of the schedule and time zone of `nextRun`; "" when it must be computed again. */
  timing: z.string(),
  /** Epoch ms; absent while there is no valid schedule. */
  nextRun: instant.optional(),
  /** Saved but not seen yet: it is created, again if need be. */
  starting: run.optional(),
  lastRun: run.optional(),
  /** Why the API server refused the run of the last time. */
  refusal: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;

/** Parses a stored memory; errors are reported field by field. */
export const parseMemory = readerOf("ScheduledSparkApplication", memory);

/** Keeps the fields of a stored memory that parse, and reports the others. */
const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

const status = z.looseObject({
  scheduleState: z.string().optional(),
  lastRun: z.string().nullish(),
  nextRun: z.string().nullish(),
  lastRunName: z.string().optional(),
});

/**
 * The first memory, from the status: a time that another controller or a lost record has announced is kept. `timing` is
 * the current spec's.
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

const ownedObjects = (key: Key, uid: string): OwnedObjects => ({ queries: [runsOf(key)], owners: [uid] });

/** The last run by the newest run that exists, if no other source names it. */
const newest = ({ object, found: [runs = []] }: Remains): Pick<Memory, "lastRun"> => {
  const { unfinished, successful, failed } = sortOut(runs, object.metadata.uid);
  const [run] = [...unfinished, ...successful, ...failed].sort((a, b) => createdAt(b) - createdAt(a));
  if (run === undefined) return {};
  return { lastRun: { name: run.metadata.name, tick: createdAt(run), at: createdAt(run) } };
};

const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const base = adopted(object, timingOf(object));
  const lost = problems.length > 0 && kept.nextRun === undefined && base.nextRun === undefined;
  const timing = lost ? "" : (kept.timing ?? base.timing);
  const memory = { ...newest(remains), ...base, ...kept, timing };
  return { memory, kept: Object.keys(kept), problems };
};

/** Recovery of a schedule: run names are made of their times, so no time is taken twice whatever is lost. */
export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: (run) => !["COMPLETED", "FAILED"].includes(stateOf(run)),
  rebuild,
  voided: (memory) => memory,
};
