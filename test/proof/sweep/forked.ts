/** Copies of a run's facts: maps, sets, lists and records of plain data, without shared references. */

const copy = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (value instanceof Map) return new Map([...value].map(([key, item]): [unknown, unknown] => [key, copy(item)]));
  if (value instanceof Set) return new Set(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]): [string, unknown] => [name, copy(item)]));
};

/** A copy that is independent of the original. */
export const forked = <Facts extends object>(facts: Facts): Facts => copy(facts) as Facts;
