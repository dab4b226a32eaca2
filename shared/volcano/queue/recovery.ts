/**
 * How a Queue comes back. It shows all that it is, and owns nothing but the commands to it: jobs, groups and other queues
 * only stand in it. So an order to end everything withdraws the commands, and the queue goes on.
 */
import type { Recovery } from "../../core/recovery.ts";
import { commandsIn } from "../command/order.ts";
import { type QueueMemory, salvageMemory } from "./memory.ts";

/** A state that was decided on is still to be shown; what is named by UIDs and versions of another cluster goes. */
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
