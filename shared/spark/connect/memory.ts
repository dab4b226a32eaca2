/**
 * What a SparkConnect's steps remember of each other: how often in a row its server has ended, when it may come again, and
 * what was told of one that does not start.
 */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import { instant } from "../../kube/instant.ts";

const memory = z.object({
  /** Servers that ended without ever having been ready in between. */
  ends: z.number().int(),
  /** Epoch ms before which no server is made. */
  retryAt: instant.optional(),
  /** Why the server did not start, as far as it was told, until it is ready: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = readerOf("SparkConnect", memory);

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);
