/** Copies of a run's facts: maps, sets, lists and records of plain data, without shared references. */

const copy = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (value instanceof Map) return new Map([...value].map(([key, item]): [unknown, unknown] => [key, copy(item)]));
  if (value instanceof Set) return new Set(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]): [string, unknown] => [name, copy(item)]));
};

/** The list that takes the facts in the place of copies, while `collected` runs. */
const collection: { facts: object[] | undefined } = { facts: undefined };

/** A copy that is independent of the original. */
export const forked = <Facts extends object>(facts: Facts): Facts => {
  if (collection.facts === undefined) return copy(facts) as Facts;
  collection.facts.push(facts);
  return facts;
};

/** All facts that `fork` would copy. What it returns shares them with the original, and is to be dropped. */
export const collected = (fork: () => unknown): readonly object[] => {
  const facts: object[] = [];
  collection.facts = facts;
  try {
    fork();
  } finally {
    collection.facts = undefined;
  }
  return facts;
};
