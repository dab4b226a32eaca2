/** Sets of executor ids, stored as ranges, `1-400,403`, so that they stay small for any number of executors. */

import * as z from "zod";

/** Ascending ranges with a gap between each two. */
export type Ids = readonly (readonly [from: number, to: number])[];

/** The stored form of a set. */
const pattern = /^(?:\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*)?$/;

export const textOfIds = (ids: Ids): string =>
  ids.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");

const joined = (ranges: readonly (readonly [number, number])[]): Ids => {
  const out: [number, number][] = [];
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = out.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else if (from <= to) out.push([from, to]);
  }
  return out;
};

/** Parses a stored set; ranges may be in any order. */
export const idsOf = (text: string): Ids =>
  joined(
    text
      .split(",")
      .filter((part) => part !== "")
      .map((part): [number, number] => {
        const [from = "", to = from] = part.split("-");
        return [Number(from), Number(to)];
      }),
  );

/** A set of these ids. */
export const idSet = (ids: Iterable<number>): Ids => joined([...ids].map((id) => [id, id]));

export const union = (a: Ids, b: Ids): Ids => joined([...a, ...b]);

/** Finds an id by binary search: a set may hold thousands of ranges, and each pod needs a search. */
export const hasId = (ids: Ids, id: number): boolean => {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [from, to] = ids[middle] ?? [0, -1];
    if (id < from) high = middle;
    else if (id > to) low = middle + 1;
    else return true;
  }
  return false;
};

export const countOfIds = (ids: Ids): number => ids.reduce((sum, [from, to]) => sum + to - from + 1, 0);

/** Every id of the set, ascending. */
export const listOfIds = (ids: Ids): readonly number[] =>
  ids.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at));

/** The shape of a set that is only searched, of any size. */
export const rangesShape = z.string().regex(pattern);

/** The most ids of listed sets, more than any cluster runs: listing a broken record could exhaust memory. */
const mostLiving = 100_000;

export const areFew = (...sets: readonly string[]): boolean =>
  sets.reduce((sum, text) => sum + countOfIds(idsOf(text)), 0) <= mostLiving;

/** The shape of a set whose ids are listed one by one. */
export const idsShape = rangesShape.refine((text) => areFew(text), `more than ${mostLiving} executors`);

const meets = (ids: Ids, from: number, to: number): boolean => ids.some(([a, b]) => a <= to && from <= b);

/** Merges the set into at most `most` ranges, if possible: fills the lowest gaps, but none with an id of `apart`. */
export const mergedInto = (ids: Ids, most: number, apart: Ids): Ids => {
  let excess = ids.length - most;
  if (excess <= 0) return ids;
  const out: [number, number][] = [];
  for (const [from, to] of ids) {
    const last = out.at(-1);
    if (last !== undefined && excess > 0 && !meets(apart, last[1] + 1, from - 1)) {
      last[1] = to;
      excess -= 1;
    } else out.push([from, to]);
  }
  return out;
};
