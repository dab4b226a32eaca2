/** Reads and compares JSON values: equality, a stable digest, and the smallest merge patch between two. */
import { digest } from "./key.ts";

/** True for a JSON object. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the fields of an object; none for every other value. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** The fields of a map of texts; a value of another type as text. */
export const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([key, text]) => [key, String(text)]));

/** Returns the JSON objects of a list; none for every other value. */
export const recordsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** Returns a copy of an object without these fields. */
export const omit = <T extends object, K extends keyof T>(object: T, ...names: readonly K[]): Omit<T, K> => {
  const copy = { ...object };
  for (const name of names) delete copy[name];
  return copy;
};

/** Returns the value without null fields at any depth: itself if it has none. Items of lists keep their places. */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const items = value.map(withoutNulls);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const there = entries
    .filter(([, item]) => item !== null && item !== undefined)
    .map(([key, item]): [string, unknown] => [key, withoutNulls(item)]);
  const isWhole = there.length === entries.length && there.every(([key, item]) => item === value[key]);
  return isWhole ? value : Object.fromEntries(there);
};

/** Parses a text; undefined if it is not JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const [quote, backslash] = [0x22, 0x5c];
/** Codes of `[` and `{`. */
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);

/** Returns the position of the quote that ends a string of JSON; the text's length where none does. */
const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === backslash) before -= 1;
    if ((at - before) % 2 === 0) return at;
  }
  return text.length;
};

/**
 * True if a JSON text opens more than `most` arrays and objects. Each takes the parser about as long as a hundred
 * characters, so the length of a text from a stranger does not bound the time of its parsing. Linear; skips strings.
 */
export const opensMoreThan = (text: string, most: number): boolean => {
  let opened = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (opening.has(code)) opened += 1;
    if (opened > most) return true;
  }
  return false;
};

/** True for integer-like keys, which every object lists before all others, in numeric order. */
const isIndex = (key: string): boolean => {
  const number = Number(key) >>> 0;
  return number < 0xff_ff_ff_ff && String(number) === key;
};

const inOrder = (keys: readonly string[]): readonly string[] => {
  const first = keys.findIndex((key) => !isIndex(key));
  if (first < 0) return keys;
  const named = keys.slice(first).sort();
  return first === 0 ? named : [...keys.slice(0, first), ...named];
};

/** Characters that JSON writes without escapes. */
const isPlain = /^[ !#-[\]-~]*$/;

const quoted = (text: string): string => (isPlain.test(text) ? `"${text}"` : JSON.stringify(text));

/** Returns the JSON of a value with its keys in order and without undefined, so that equal values have equal texts. */
const canonical = (value: unknown): string => {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  let text = "";
  for (const key of inOrder(Object.keys(value))) {
    const item = value[key];
    if (item !== undefined) text += `${text === "" ? "" : ","}${quoted(key)}:${canonical(item)}`;
  }
  return `{${text}}`;
};

const definedIn = (value: Record<string, unknown>): readonly string[] =>
  Object.keys(value).filter((key) => value[key] !== undefined);

const sameRecords = (a: Record<string, unknown>, b: Record<string, unknown>): boolean => {
  const keys = definedIn(a);
  return keys.length === definedIn(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
};

/** True if the values are equal as JSON: the order of keys does not matter, nor does undefined against absent. */
export const same = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
  if (isRecord(a) && isRecord(b)) return sameRecords(a, b);
  return JSON.stringify(a) === JSON.stringify(b);
};

/** Hex digest of a JSON value, independent of the order of its keys. */
export const digestOf = (value: unknown): string => digest(value === undefined ? "" : canonical(value));

/**
 * Limits beyond any object that is meant to be read: deeper values exhaust the stack, larger ones take seconds to
 * process.
 */
const deepest = 256;
const most = 50_000;

const inside = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];

/** True if a value has too many parts, or nests too deep. Does not recurse. */
export const isTooMuch = (value: unknown): boolean => {
  let level = inside(value);
  let count = level.length;
  for (let depth = 1; level.length > 0 && count <= most; depth += 1) {
    if (depth > deepest) return true;
    const next: unknown[] = [];
    for (const each of level) {
      const within = inside(each);
      count += within.length;
      if (count > most) return true;
      for (const one of within) next.push(one);
    }
    level = next;
  }
  return count > most;
};

/** Returns the RFC 7386 patch that turns `from` into `to`; undefined if they are equal. Removed keys become null. */
export const mergePatch = (from: unknown, to: unknown): unknown => {
  if (!isRecord(from) || !isRecord(to)) return same(from, to) ? undefined : to;
  const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key) || to[key] === undefined);
  const changed = Object.entries(to)
    .map(([key, value]): [string, unknown] => [key, Object.hasOwn(from, key) ? mergePatch(from[key], value) : value])
    .filter(([, change]) => change !== undefined);
  const patch = [...gone.map((key): [string, unknown] => [key, null]), ...changed];
  return patch.length === 0 ? undefined : Object.fromEntries(patch);
};
