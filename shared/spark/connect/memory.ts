/** What a SparkConnect's steps remember of each other: how often in a row its server has ended, and when it may come again. */
import * as z from "zod";
import type { Parsed } from "../../core/operator.ts";
import { problemsIn, withoutBad } from "../../core/recovery.ts";

const memory = z.object({
  /** Servers that ended without ever having been ready in between. */
  ends: z.number().int(),
  /** Epoch ms before which no server is made. */
  retryAt: z.number().optional(),
});

export type Memory = z.infer<typeof memory>;

export const parseMemory = (stored: unknown): Parsed<Memory> => {
  const parsed = memory.safeParse(stored);
  if (parsed.success) return { ok: true, memory: parsed.data };
  const where = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  return { ok: false, error: `memory of a SparkConnect cannot be read (${where.join("; ")})` };
};

type Fields = { readonly [F in keyof Memory]?: Memory[F] | undefined };

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
export const salvageMemory = (stored: unknown): { readonly kept: Fields; readonly problems: readonly string[] } => {
  if (stored === undefined) return { kept: {}, problems: [] };
  const parsed = memory.safeParse(stored);
  if (parsed.success) return { kept: parsed.data, problems: [] };
  const { issues } = parsed.error;
  const { data: kept = {} } = memory.partial().safeParse(withoutBad(stored, issues));
  return { kept, problems: problemsIn(issues, "memory") };
};
