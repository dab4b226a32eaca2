/**
 * Ways in which a record is damaged: each field is removed, has another type, exceeds all bounds, or holds the value of
 * another record.
 */
import { at } from "../../../proof/sweep/fields.ts";

export type Path = readonly (string | number)[];

export type Spoil = {
  readonly says: string;
  readonly path: Path;
  readonly record: unknown;
  /** No valid record has such a value here: the record is refused. */
  readonly absurd: boolean;
};

type Value = { readonly says: string; readonly to: unknown; readonly absurd?: true };

/** The values that replace a field. */
const values: readonly Value[] = [
  { says: "taken away", to: undefined },
  { says: "an empty text", to: "" },
  { says: "bytes", to: "\u0000\ufffd\u0001\u001b[2J" },
  { says: "more ids than there is memory for", to: "1-999999999" },
  { says: "a negative number", to: -1 },
  { says: "a number beyond all times", to: 9e15 },
  { says: "an object", to: { x: { y: 1 } }, absurd: true },
];

const entriesOf = (value: unknown): readonly (readonly [string | number, unknown])[] => {
  if (Array.isArray(value)) return value.slice(0, 2).map((one, nth) => [nth, one] as const);
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
};

/** Returns the path of every field, the outermost first. */
const pathsIn = (value: unknown, before: Path = []): readonly Path[] =>
  entriesOf(value).flatMap(([name, inner]) => [[...before, name], ...pathsIn(inner, [...before, name])]);

const replaced = (value: unknown, [name, ...rest]: Path, to: unknown): unknown => {
  if (name === undefined) return to;
  const changed = entriesOf(value).map(([one, inner]) => [one, one === name ? replaced(inner, rest, to) : inner]);
  const kept = changed.filter(([, inner]) => inner !== undefined);
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
};

const textOf = (path: Path): string => path.join(".");

/** Fields that are stored unread may hold any value, so only leaves are checked for an absurd one. */
const isLeaf = (value: unknown): boolean => typeof value !== "object" || value === null;

const spoilsAt = (record: unknown, other: unknown, path: Path): readonly Spoil[] => {
  const steps = path.map(String);
  const there = at(record, ...steps);
  const theirs = at(other, ...steps);
  const own = values.map(({ says, to, absurd = false }) => ({
    says: `${textOf(path)}: ${says}`,
    path,
    record: replaced(record, path, to),
    absurd: absurd && isLeaf(there),
  }));
  const differs = theirs !== undefined && JSON.stringify(theirs) !== JSON.stringify(there);
  const swapped = {
    says: `${textOf(path)}: its neighbour's`,
    path,
    record: replaced(record, path, theirs),
    absurd: false,
  };
  return differs ? [...own, swapped] : own;
};

/** Returns the record with every field damaged in every way; `other` is the record of another object. */
export const spoilsOf = (record: unknown, other: unknown): readonly Spoil[] => [
  ...pathsIn(record).flatMap((path) => spoilsAt(record, other, path)),
  { says: "all of it: its neighbour's", path: [], record: other, absurd: false },
];

/** Returns the record's JSON text cut off at `lengths` different lengths. */
export const cutOff = (
  record: unknown,
  lengths: number,
): readonly { readonly says: string; readonly record: string }[] => {
  const text = JSON.stringify(record);
  return Array.from({ length: lengths }, (_, nth) => Math.floor((text.length * (nth + 1)) / (lengths + 1))).map(
    (length) => ({
      says: `cut off after ${length} of ${text.length}`,
      record: text.slice(0, length),
    }),
  );
};
