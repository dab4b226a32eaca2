/** Recovery of a CronJob: the names of its jobs derive from its times, so no time is taken twice whatever is lost. */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { OwnedObjects, Rebuilt, Recovery, Remains } from "../../core/recovery.ts";
import { isFinished } from "../child-jobs.ts";
import { tickOf } from "./job.ts";
import { jobsOf, sortOut } from "./jobs.ts";
import { type Memory, salvageMemory, seeded } from "./memory.ts";
import { timingOf } from "./read.ts";
import { projected } from "./status.ts";

const ownedObjects = (key: Key, uid: string): OwnedObjects => ({ queries: [jobsOf(key)], owners: [uid] });

/** Returns the latest time whose job exists, epoch ms; 0 if none does. */
const latestIn = ({ object, found: [there = []] }: Remains): number => {
  const { all } = sortOut(there, object.metadata.uid);
  return Math.max(0, ...all.map((job) => tickOf(object.metadata.name, job) ?? 0));
};

const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, now, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const base = seeded(object, timingOf(object), now);
  const taken = Math.max(kept.taken ?? 0, base.taken ?? 0, latestIn(remains));
  const memory: Memory = {
    ...base,
    ...kept,
    timing: kept.timing ?? base.timing,
    since: Math.max(kept.since ?? 0, base.since, taken),
    ...(taken === 0 ? {} : { taken }),
  };
  return { memory, kept: Object.keys(kept), problems };
};

/** Times mean the same in every cluster; the refusal of another cluster's API server is dropped. */
const voided = ({ refusal: _, ...memory }: Memory): Memory => memory;

/** Returns a status without active jobs. Finished jobs stay; no status names them. */
const emptied = (_: Stored, memory: Memory) => projected(memory, { all: [], active: [], successful: [], failed: [] });

export const recovery: Recovery<Memory> = { ownedObjects, isLive: (job) => !isFinished(job), rebuild, voided, emptied };
