/** CronJob as the engine knows it: what to watch, how to read its memory, how to decide, which updates to send, how to recover:
 * the names of its jobs derive from its times, so no time is taken twice whatever is lost. */

import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { StateUpdate } from "../../core/outbox.ts";
import type { OwnedObjects, Plan, Rebuilt, Recovery, Remains } from "../../core/plan.ts";
import { cronWatcher, isFinished } from "../child-jobs.ts";
import { component } from "../schema/resource.ts";
import { decide, type Settings } from "./decide.ts";
import { jobsOf, type Memory, parseMemory, projected, salvageMemory, seeded, sortOut, tickOf } from "./memory.ts";
import { readCronSpec, timingOf } from "./read.ts";

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

/** Recovery of a CronJob: the names of its jobs derive from its times, so no time is taken twice whatever is lost. */
export const recovery: Recovery<Memory> = { ownedObjects, isLive: (job) => !isFinished(job), rebuild, voided, emptied };

const word = (state: string, message?: string): StateUpdate => ({
  ...{ state, attempt: 0, terminal: false },
  ...(message === undefined ? {} : { message }),
});

const isActive = ({ status }: Plan<Memory>): boolean => {
  const active = status?.["active"];
  return Array.isArray(active) && active.length > 0;
};

/** The first that holds: InvalidSpec, Suspended, JobRefused, Active, Scheduled. */
export const tells = (plan: Plan<Memory>, object: Stored): StateUpdate | undefined => {
  const read = readCronSpec(object);
  if (!read.ok) return word("InvalidSpec", read.message);
  if (read.desired.suspended) return word("Suspended");
  const { refusal } = plan.memory;
  if (refusal !== undefined) return word("JobRefused", refusal);
  // A plan without a status does not say whether jobs are active.
  if (plan.status === undefined) return undefined;
  return word(isActive(plan) ? "Active" : "Scheduled");
};

/** The operator of Volcano's CronJobs under the given settings. */
export const volcanoCronJob = (settings: Settings): Operator<Memory> => ({
  ...cronWatcher,
  component,
  parse: parseMemory,
  tells,
  recovery,
  decide: (key, view) => decide(settings, key, view),
});
