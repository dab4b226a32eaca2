/** Recovery of a schedule: run names are made of their times, so no time is taken twice whatever is lost. */
import type { Key } from "../../core/key.ts";
import type { OwnedObjects, Rebuilt, Recovery, Remains } from "../../core/recovery.ts";
import { adopted, type Memory, salvageMemory } from "./memory.ts";
import { timingOf } from "./read.ts";
import { createdAt, runsOf, sortOut, stateOf } from "./runs.ts";

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

export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: (run) => !["COMPLETED", "FAILED"].includes(stateOf(run)),
  rebuild,
  voided: (memory) => memory,
};
