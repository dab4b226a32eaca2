/** Preserves the fields that a later version wrote. Pure. */
import { same } from "../../core/json.ts";
import type { Operator } from "../../core/operator.ts";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the memory to store, together with the fields of the stored one that its kind does not read: fields of the
 * memory itself, and those within fields that have not changed.
 */
export const carried = (operator: Operator<unknown>, stored: unknown, next: unknown): unknown => {
  if (!isFields(stored) || !isFields(next)) return next;
  const read = operator.parse(stored);
  if (!read.ok || !isFields(read.memory) || same(read.memory, stored)) return next;
  const known = read.memory;
  const beyond = Object.entries(stored).filter(([key]) => !Object.hasOwn(known, key) && !Object.hasOwn(next, key));
  const own = Object.entries(next).map(([key, value]) => [key, same(known[key], value) ? stored[key] : value] as const);
  return Object.fromEntries([...own, ...beyond]);
};
