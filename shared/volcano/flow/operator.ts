/** JobFlow as the engine knows it: what to watch, how to read its memory, how to decide, which updates to send, how to recover:
 * its jobs' names derive from its templates, so none is created twice whatever is lost. */

import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { StateUpdate } from "../../core/outbox.ts";
import type { OwnedObjects, Plan, Rebuilt, Recovery, Remains } from "../../core/plan.ts";
import { ownedBy } from "../../kube/pods.ts";
import { flowWatcher, isFinished, phaseOf } from "../child-jobs.ts";
import { component } from "../schema/resource.ts";
import { decide, type Settings } from "./decide.ts";
import { isOver, type Memory, parseMemory, salvageMemory, seeded } from "./memory.ts";
import { jobsOf, readFlowSpec } from "./read.ts";

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

/** Recovery of a JobFlow: its jobs' names derive from its templates, so none is created twice whatever is lost. */
export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: (job) => !isFinished(job),
  rebuild,
  voided,
  ended,
  trimmed,
};

/** The status update that a plan for a JobFlow causes: its phase, or InvalidSpec. Its jobs have their own. */
export const tells = ({ memory: { phase, warned } }: Plan<Memory>, object: Stored): StateUpdate => {
  const over = isOver(phase);
  const read = readFlowSpec(object);
  if (!over && !read.ok) return { state: "InvalidSpec", attempt: 0, terminal: false, message: read.message };
  return { state: phase, attempt: 0, terminal: over, ...(warned === undefined ? {} : { message: warned }) };
};

/** The operator of JobFlows under the given settings. */
export const volcanoJobFlow = (settings: Settings): Operator<Memory> => ({
  ...flowWatcher,
  component,
  parse: parseMemory,
  tells,
  recovery,
  decide: (key, view) => decide(settings, key, view),
});
