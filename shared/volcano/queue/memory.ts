/** What a queue's steps remember of each other beyond what the queue shows. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import { states } from "./machine.ts";

const memory = z.object({
  /** The state that was decided on, until everybody sees it. */
  wanted: z.enum(states).optional(),
  /** The queue's resourceVersion when that was decided: what is told of it is named after it. */
  decidedAt: z.string().optional(),
  /** UIDs of commands that were taken: those whose objects are there, and the latest. */
  commands: z.array(z.string()).optional(),
  /** Of the root: who lets groups of pods in, as it was told last. */
  admits: z.string().optional(),
  /** Of the root: when pods were looked at for a scheduler in vain, epoch ms. */
  searchedAt: z.number().optional(),
  /** Of the root: it was told that a scheduler runs and lets nothing in. */
  silent: z.boolean().optional(),
});

export type QueueMemory = z.infer<typeof memory>;

export const parseQueueMemory = readerOf("Queue", memory);

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
export const salvageMemory = (stored: unknown): Salvaged<QueueMemory> => salvage(memory, memory.partial(), stored);
