/** Sets of executor ids, kept as ranges: `1-400,403`. However many executors there are, their ids stay a few words. */

import * as z from "zod";

/** Ascending, apart from each other by at least one id. */
export type Ids = readonly (readonly [from: number, to: number])[];

/** The form in which a set is kept. */
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

/** Reads what `textOfIds` wrote; what is out of order is put in order. */
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

/** By halves: a set may hold thousands of ranges, and is asked for each pod. */
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

/** A set that is only asked, however many are in it. */
export const rangesShape = z.string().regex(pattern);

/** More than any cluster runs: a record that says so is broken, and to list what it names takes all memory there is. */
const mostLiving = 100_000;

export const areFew = (...sets: readonly string[]): boolean =>
  sets.reduce((sum, text) => sum + countOfIds(idsOf(text)), 0) <= mostLiving;

/** A set whose ids are gone through one by one. */
export const idsShape = rangesShape.refine((text) => areFew(text), `more than ${mostLiving} executors`);

const meets = (ids: Ids, from: number, to: number): boolean => ids.some(([a, b]) => a <= to && from <= b);

/** The set in at most `most` ranges, if that can be: the lowest gaps count as in it, but none that holds one of `apart`. */
export const coarsened = (ids: Ids, most: number, apart: Ids): Ids => {
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
