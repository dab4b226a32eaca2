/** Recovery of a JobFlow: its jobs' names derive from its templates, so none is created twice whatever is lost. */
import type { Key } from "../../core/key.ts";
import type { OwnedObjects, Rebuilt, Recovery, Remains } from "../../core/recovery.ts";
import { ownedBy } from "../../kube/pods.ts";
import { isFinished, phaseOf } from "../child-jobs.ts";
import { isOver } from "./machine.ts";
import { type Memory, salvageMemory, seeded } from "./memory.ts";
import { jobsOf } from "./read.ts";

const ownedObjects = (key: Key, uid: string): OwnedObjects => ({ queries: [jobsOf(key)], owners: [uid] });

/** Returns the names of the flow's existing jobs that are complete. */
const completeIn = ({ object, found: [all = []] }: Remains): readonly string[] =>
  all
    .filter((job) => ownedBy(job, object.metadata.uid) && phaseOf(job) === "Completed")
    .map(({ metadata }) => metadata.name);

const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { kept, problems } = salvageMemory(remains.stored);
  const base = seeded(remains.object);
  const known = [...(kept.completed ?? []), ...base.completed, ...completeIn(remains)];
  const memory: Memory = {
    ...kept,
    phase: kept.phase ?? base.phase,
    completed: [...new Set(known)],
    histories: kept.histories ?? base.histories,
  };
  return { memory, kept: Object.keys(kept), problems };
};

/** A complete job stays complete; the others did not come along and are created anew. */
const voided = ({ warned: _, ...memory }: Memory): Memory => {
  if (isOver(memory.phase)) return memory;
  const done = Object.entries(memory.histories).filter(([name]) => memory.completed.includes(name));
  return { ...memory, histories: Object.fromEntries(done) };
};

const ended = (memory: Memory, _: number, message: string): Memory =>
  isOver(memory.phase) ? memory : { ...memory, phase: "Failed", warned: message };

/** Keeps the latest phase of each job. */
const trimmed = ({ histories, ...memory }: Memory): Memory => ({
  ...memory,
  histories: Object.fromEntries(Object.entries(histories).map(([name, history]) => [name, history.slice(-1)])),
});

export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: (job) => !isFinished(job),
  rebuild,
  voided,
  ended,
  trimmed,
};
