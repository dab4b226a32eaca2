/**
 * A bounded amount that namespaces share: each holds at most as much as is left for all others. However many namespaces
 * hold their most, the next one finds room, and a namespace that is alone holds half.
 */
import { fieldsOf } from "./json.ts";

export type Share = {
  /** Takes an amount for a namespace; false, and nothing is taken, if its share has no room for it. */
  take(namespace: string, amount: number): boolean;
  /** Returns an amount that was taken. */
  give(namespace: string, amount: number): void;
  /** Returns a share of its own in the same state. */
  copy(): Share;
};

export const openShare = (most: number, before: ReadonlyMap<string, number> = new Map()): Share => {
  const held = new Map(before);
  let left = [...held.values()].reduce((sum, amount) => sum - amount, most);
  return {
    copy: () => openShare(most, held),
    take: (namespace, amount) => {
      const own = (held.get(namespace) ?? 0) + amount;
      if (own > left - amount) return false;
      held.set(namespace, own);
      left -= amount;
      return true;
    },
    give: (namespace, amount) => {
      const own = (held.get(namespace) ?? 0) - amount;
      if (own > 0) held.set(namespace, own);
      else held.delete(namespace);
      left += amount;
    },
  };
};

const perText = 24;
const perField = 32;
const perObject = 64;

/** Matches a text that takes two bytes for each character. */
const isWide = /[^\0-\xff]/;

const bytesOfText = (text: string): number => perText + text.length * (isWide.test(text) ? 2 : 1);

/** The memory of an object or a list without what is within it; each value within it is passed to `inside`. */
const bytesOfObject = (value: object, inside: (value: unknown) => void): number => {
  let bytes = perObject;
  if (Array.isArray(value)) {
    for (const inner of value) inside(inner);
    return bytes + value.length * perField;
  }
  // Takes a third of the time of Object.entries, which makes a list of each field.
  const fields = fieldsOf(value);
  for (const key in fields) {
    bytes += perField + key.length;
    inside(fields[key]);
  }
  return bytes;
};

/**
 * Estimates the memory of a JSON value, bytes; stops at `most`, so that a large value costs no more time than a bounded
 * one. Does not recurse.
 */
export const bytesOf = (value: unknown, most = Number.POSITIVE_INFINITY): number => {
  const left: object[] = [];
  let bytes = 0;
  const take = (one: unknown): void => {
    if (typeof one === "string") bytes += bytesOfText(one);
    else if (typeof one === "object" && one !== null) left.push(one);
  };
  take(value);
  for (let one = left.pop(); one !== undefined && bytes < most; one = left.pop()) {
    const own = bytesOfObject(one, take);
    bytes += own;
  }
  return bytes;
};
