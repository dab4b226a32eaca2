/** What a SparkConnect's steps remember of each other: how often in a row its server has ended, and when it may come again. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import { instant } from "../../kube/instant.ts";

const memory = z.object({
  /** Servers that ended without ever having been ready in between. */
  ends: z.number().int(),
  /** Epoch ms before which no server is made. */
  retryAt: instant.optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = readerOf("SparkConnect", memory);

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);
