/** Fields that a later version wrote come through this one unchanged. Pure. */
import { same } from "../../core/json.ts";
import type { Operator } from "../../core/operator.ts";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The memory to store, with what the stored one holds beyond what its kind reads: fields of their own, and those within
 * fields that have not changed.
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
