/**
 * The annotations of users as rows of tables: each with its default and its range. The reader, the texts about bad
 * values, and the lines of the reference follow from the rows.
 */
import type { Obj } from "./object.ts";

/** The annotation of an object whose decisions are recorded, until the RFC 3339 time that is its value. */
export const recordUntil = "rekindle.dev/record-until";

/** The annotation of an object whose steps a user has paused. */
export const pausedAnnotation = "rekindle.dev/paused";

/** True while a user has paused the object: no step of it does anything. */
export const isPaused = (object: Obj | undefined): boolean =>
  object?.metadata.annotations?.[pausedAnnotation] === "true";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Lengths of time, ms. */
export const spanUnits = { second, minute, hour, day } as const;

export type Row = { readonly annotation: string; readonly meaning: string };

/** A duration from `least` to `most`, ms; no default: off. */
export type Span = Row & {
  readonly form: "duration";
  readonly default?: number;
  /** The value that holds if there is no default; absent: off. */
  readonly otherwise?: string;
  readonly least: number;
  readonly most: number;
};

/** A whole number from `least` to `most`. */
export type Count = Row & { readonly form: "count"; readonly least: number; readonly most: number };

/** One of the words; the first is the default. */
export type Choice<Word extends string = string> = Row & {
  readonly form: "choice";
  readonly words: readonly [Word, ...Word[]];
};

/** A value in a grammar of its own; `range` describes it for people. */
export type Grammar<Value> = Row & {
  readonly form: "grammar";
  readonly range: string;
  readonly read: (text: string) => Value | undefined;
};

const units = [
  ["d", day],
  ["h", hour],
  ["m", minute],
  ["s", second],
] as const;

/** Parses a duration such as `90s`, `5m`, `2h`, `1d`. */
const msOf = (text: string): number | undefined => {
  const [, amount, unit] = /^(\d{1,9})([dhms])$/.exec(text.trim()) ?? [];
  const size = units.find(([name]) => name === unit)?.[1];
  return amount === undefined || size === undefined ? undefined : Number(amount) * size;
};

/** Formats a duration in its largest whole unit. */
export const spanText = (ms: number): string => {
  const [unit, size] = units.find((one) => ms >= one[1] && ms % one[1] === 0) ?? units[3];
  return `${ms / size}${unit}`;
};

type Read<Value> = { readonly value: Value; readonly problem?: string };

/**
 * Returns the text about an annotation that cannot be read: the given value, the expected form, and the value that
 * holds instead.
 */
export const problemOf = ({ annotation }: Row, given: string, wanted: string, held: string): string =>
  `metadata.annotations[${annotation}]: ${JSON.stringify(given.slice(0, 100))} is not ${wanted}; ${held} applies`;

const readSpan = <Default extends number | undefined>(
  row: Span,
  fallback: Default,
  given: string | undefined,
): Read<number | Default> => {
  if (given === undefined) return { value: fallback };
  const ms = msOf(given);
  if (ms !== undefined && ms >= row.least && ms <= row.most) return { value: ms };
  const wanted = `a duration from ${spanText(row.least)} to ${spanText(row.most)}, such as 90s or 5m`;
  const held = fallback === undefined ? (row.otherwise ?? "no limit") : `the default of ${spanText(fallback)}`;
  return { value: fallback, problem: problemOf(row, given, wanted, held) };
};

const readChoice = <Name extends string>(row: Choice<Name>, given: string | undefined): Read<Name> => {
  const [first] = row.words;
  if (given === undefined) return { value: first };
  const word = row.words.find((one) => one === given.trim());
  if (word !== undefined) return { value: word };
  return { value: first, problem: problemOf(row, given, `one of ${row.words.join(", ")}`, `the default of ${first}`) };
};

const readCount = (row: Count, given: string | undefined): Read<number | undefined> => {
  if (given === undefined) return { value: undefined };
  const value = /^\d{1,9}$/.test(given.trim()) ? Number(given) : 0;
  if (value >= row.least && value <= row.most) return { value };
  const wanted = `a whole number from ${row.least} to ${row.most}`;
  return { value: undefined, problem: problemOf(row, given, wanted, "the default") };
};

const readGrammar = <Value>(row: Grammar<Value>, given: string | undefined): Read<Value | undefined> => {
  if (given === undefined) return { value: undefined };
  const value = row.read(given.trim());
  return value === undefined ? { value, problem: problemOf(row, given, row.range, "nothing of it") } : { value };
};

/** Returns a reader of rows that collects the problems with their values. */
export const reader = (annotations: Readonly<Record<string, string>>) => {
  const problems: string[] = [];
  const take = <Value>({ value, problem }: Read<Value>): Value => {
    if (problem !== undefined) problems.push(problem);
    return value;
  };
  const given = (row: Row): string | undefined => annotations[row.annotation];
  return {
    problems,
    span: (row: Span): number | undefined => take(readSpan(row, row.default, given(row))),
    fixed: (row: Span & { readonly default: number }): number => take(readSpan(row, row.default, given(row))),
    count: (row: Count): number | undefined => take(readCount(row, given(row))),
    choice: <Name extends string>(row: Choice<Name>): Name => take(readChoice(row, given(row))),
    grammar: <Value>(row: Grammar<Value>): Value | undefined => take(readGrammar(row, given(row))),
  };
};

export type Line = Readonly<Record<"annotation" | "default" | "range" | "meaning", string>>;

const normallyOf = (row: Span | Count | Choice | Grammar<unknown>): string => {
  if (row.form === "choice") return row.words[0];
  if (row.form !== "duration") return "off";
  return row.default === undefined ? (row.otherwise ?? "off") : spanText(row.default);
};

const rangeOf = (row: Span | Count | Choice | Grammar<unknown>): string => {
  switch (row.form) {
    case "duration":
      return `${spanText(row.least)} to ${spanText(row.most)}`;
    case "count":
      return `${row.least} to ${row.most}`;
    case "choice":
      return row.words.join(", ");
    case "grammar":
      return row.range;
  }
};

/** Returns the row as a line of the reference. */
export const lineOf = (row: Span | Count | Choice | Grammar<unknown>): Line => ({
  annotation: row.annotation,
  default: normallyOf(row),
  range: rangeOf(row),
  meaning: row.meaning,
});
