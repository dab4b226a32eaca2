/** The JobTemplate kind: only JobFlows act on a template; its status names the jobs that were created from it. */

import * as z from "zod";
import { type Decision, list } from "../../core/decision.ts";
import { fieldsOf } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Looking, Plan, Recovery, View } from "../../core/plan.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { isEnding } from "../../kube/pods.ts";
import { makerText } from "../flow/read.ts";
import { jobs, keys } from "../schema/resource.ts";
import { jobTemplateWatcher } from "./watches.ts";

/** Empty: the existing jobs show everything. */
const memory = z.object({});

export type Memory = z.infer<typeof memory>;

const madeFrom = ({ namespace, name }: Key): Looking => ({
  do: "list",
  resource: jobs,
  namespace,
  labels: { [keys.byTemplate]: makerText(namespace, name) },
});

/** Decides one step of a JobTemplate. As upstream, the status still names the last jobs when all are gone. */
function* decide(key: Key, { object }: View<Memory>): Decision<Memory> {
  if (object === undefined) return { memory: {}, stages: [], next: { do: "forget" } };
  if (isEnding(object)) return { memory: {}, stages: [], next: { do: "rest" } };
  const found = yield* list(madeFrom(key));
  const jobDependsOnList = found.map(({ metadata }) => metadata.name).sort();
  return {
    memory: {},
    stages: [],
    // A lost ring of a new job leaves nothing at the template that a resync could compare.
    next: { do: "wait" },
    ...(jobDependsOnList.length === 0 ? {} : { status: { jobDependsOnList } }),
  };
}

/** Returns the status update: Used if the status names jobs, else Unused. */
const statusUpdate = ({ status }: Plan<Memory>, object: Stored): StateUpdate => {
  const { jobDependsOnList } = fieldsOf(object.status);
  const isUsed = status !== undefined || (Array.isArray(jobDependsOnList) && jobDependsOnList.length > 0);
  return { state: isUsed ? "Used" : "Unused", attempt: 0, terminal: false };
};

/** The jobs of a template are owned by flows, and there is no memory. */
const recovery: Recovery<Memory> = {
  ownedObjects: (_, uid) => ({ queries: [], owners: [uid] }),
  isLive: () => true,
  rebuild: () => ({ memory: {}, kept: [], problems: [] }),
  voided: () => ({}),
  ended: () => ({}),
};

export const volcanoJobTemplate: Operator<Memory> = {
  ...jobTemplateWatcher,
  parse: (stored) => {
    const parsed = memory.safeParse(stored);
    return parsed.success ? { ok: true, memory: {} } : { ok: false, error: "memory of a JobTemplate is not an object" };
  },
  decide,
  statusUpdate,
  recovery,
};
