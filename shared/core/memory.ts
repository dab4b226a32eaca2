/** Parses stored memories by the schema of their kind: whole, or field by field if a part of them is wrong. */
import { oncePerObject } from "./memoize.ts";
import type { Parsed } from "./operator.ts";
import { type Issue, problemsIn, withoutBad } from "./recovery.ts";

/** The part of a zod schema that is used here. */
type Shape<Value> = {
  safeParse(
    stored: unknown,
  ):
    | { readonly success: true; readonly data: Value }
    | { readonly success: false; readonly data?: undefined; readonly error: { readonly issues: readonly Issue[] } };
};

/** The fields of a stored memory that can be read, and the problems of the others. */
export type Salvaged<Memory> = {
  readonly kept: { readonly [F in keyof Memory]?: Memory[F] | undefined };
  readonly problems: readonly string[];
};

/**
 * Returns the parser for memories of a kind; an error lists the problems field by field. Results are memoized, because
 * a step parses the same memory several times.
 */
export const readerOf = <Memory>(kind: string, shape: Shape<Memory>): ((stored: unknown) => Parsed<Memory>) =>
  oncePerObject((stored) => {
    const parsed = shape.safeParse(stored);
    if (parsed.success) return { ok: true, memory: parsed.data };
    const where = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    return { ok: false, error: `memory of a ${kind} cannot be read (${where.join("; ")})` };
  });

/** Keeps the fields that can be read. `partial` is `shape` with every field optional. */
export const salvage = <Memory>(
  shape: Shape<Memory>,
  partial: Shape<Salvaged<Memory>["kept"]>,
  stored: unknown,
): Salvaged<Memory> => {
  if (stored === undefined) return { kept: {}, problems: [] };
  const parsed = shape.safeParse(stored);
  if (parsed.success) return { kept: parsed.data, problems: [] };
  const { issues } = parsed.error;
  const { data: kept = {} } = partial.safeParse(withoutBad(stored, issues));
  return { kept, problems: problemsIn(issues, "memory") };
};
