/** The memory of a queue: facts that the queue does not show. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../../core/operator.ts";
import { roundMemory } from "../../gang/state/memory.ts";
import { states } from "./tree.ts";

const memory = z.object({
  /** The state that was decided on, until the status shows it. */
  wanted: z.enum(states).optional(),
  /** The queue's resourceVersion at that decision; the names of the Events about it contain it. */
  decidedAt: z.string().optional(),
  /** The last report about a parent that the queue cannot have. */
  misplaced: z.string().optional(),
  /** UIDs of taken commands: those whose objects exist, and the latest. */
  commands: z.array(z.string()).optional(),
  // Of the root queue only.
  ...roundMemory,
});

export type QueueMemory = z.infer<typeof memory>;

export const parseQueueMemory = readerOf("Queue", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<QueueMemory> => salvage(memory, memory.partial(), stored);
