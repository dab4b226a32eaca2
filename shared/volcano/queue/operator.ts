/**
 * Queue as the engine knows it: what to watch, how to read its memory, how to decide, and how to recover. A queue's
 * status shows everything, and it owns only the commands for it; a cleanup deletes them, and the queue goes on.
 */

import type { Operator } from "../../core/operator.ts";
import type { Plan, Recovery } from "../../core/plan.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { commandsIn } from "../command/order.ts";
import { vcctlNamespace } from "../gang/settings.ts";
import { component } from "../schema/resource.ts";
import { decideWith, type QueueOptions } from "./decide.ts";
import { parseQueueMemory, type QueueMemory, salvageMemory } from "./state/memory.ts";
import { founding, queueWatcher } from "./watches.ts";

/** Keeps a decided state that is still to be shown; UIDs and resource versions of another cluster are dropped. */
const voided = ({ wanted }: QueueMemory): QueueMemory => (wanted === undefined ? {} : { wanted });

export const recovery: Recovery<QueueMemory> = {
  ownedObjects: (_, uid) => ({ queries: [commandsIn("")], owners: [uid] }),
  isLive: () => true,
  rebuild: ({ stored }) => {
    const { kept, problems } = salvageMemory(stored);
    return { memory: kept, kept: Object.keys(kept), problems };
  },
  voided,
  ended: (memory) => memory,
};

const tells = ({ status }: Plan<QueueMemory>): StateUpdate | undefined => {
  const state = status?.["state"];
  return typeof state === "string" ? { state, attempt: 0, terminal: false } : undefined;
};

export const volcanoQueue = ({
  gang = "auto",
  queueCommandNamespaces = [vcctlNamespace],
}: QueueOptions = {}): Operator<QueueMemory> => ({
  ...queueWatcher,
  component,
  founding,
  parse: parseQueueMemory,
  tells,
  recovery,
  decide: decideWith({ gang, queueCommandNamespaces }),
});
