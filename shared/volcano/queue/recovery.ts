/**
 * Recovery of a Queue. Its status shows everything, and it owns only the commands for it: jobs, groups and other queues
 * do not belong to it. A cleanup therefore deletes the commands, and the queue goes on.
 */
import type { Recovery } from "../../core/plan.ts";
import { commandsIn } from "../command/order.ts";
import { type QueueMemory, salvageMemory } from "./state/memory.ts";

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
