/**
 * The memory of a SparkConnect: how often in a row its server has ended, when the next may be created, and the reported
 * reasons why one does not start.
 */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import { instant } from "../../kube/instant.ts";

const memory = z.object({
  /** Ends of the server in a row without having been ready. */
  ends: z.number().int(),
  /** Time of the next creation, epoch ms. */
  retryAt: instant.optional(),
  /** Reported reasons why the server did not start, until it is ready: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = readerOf("SparkConnect", memory);

/** Keeps the fields of a stored memory that parse, and reports the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);
