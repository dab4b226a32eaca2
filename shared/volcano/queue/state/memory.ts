/** The memory of a queue: facts that the queue does not show. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../../core/operator.ts";
import { instant } from "../../../kube/schema.ts";
import { states } from "./tree.ts";

const memory = z.object({
  /** The state that was decided on, until the status shows it. */
  wanted: z.enum(states).optional(),
  /** The queue's resourceVersion at that decision; the names of the Events about it contain it. */
  decidedAt: z.string().optional(),
  /** UIDs of taken commands: those whose objects exist, and the latest. */
  commands: z.array(z.string()).optional(),
  /** Root only: the component that admits groups of pods, as it was reported last. */
  admits: z.string().optional(),
  /** Root only: when a search of the pods found no scheduler, epoch ms. */
  searchedAt: z.number().optional(),
  /** Root only: a scheduler that runs and admits nothing was reported. */
  silent: z.boolean().optional(),
  /** Root only, with `gang: builtin`: the groups that the latest round has admitted by plans. */
  planning: z
    .object({
      /** When the round was saved, epoch ms. */
      at: instant,
      /** By the UID of each group: the resourceVersion that its write requires. */
      groups: z.record(z.string(), z.string()),
    })
    .optional(),
});

export type QueueMemory = z.infer<typeof memory>;

export const parseQueueMemory = readerOf("Queue", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<QueueMemory> => salvage(memory, memory.partial(), stored);
