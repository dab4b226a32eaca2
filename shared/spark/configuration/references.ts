/**
 * References between confs, `${spark.x}`, resolved as Spark's ConfigReader does. Each conf is resolved once, each text
 * is scanned once, and the result is bounded: a few doubling references would otherwise exhaust the memory.
 */
import { counted } from "../../core/counted.ts";

/** The most characters of one application's resolved texts together, as many as its ConfigMap may hold. */
const mostFilled = 1_048_576;

/** The most levels of references. */
const deepest = 32;

const begin = "${";
const name = "${spark.";

/** A part of a text: plain text, or a reference with its key. */
type Part = { readonly text: string; readonly key?: string };

const ends = /[}\s]/g;

/** Returns the end of the key that begins before `from`: the next brace or space. One pass over the text finds all. */
const endsOf = (text: string): ((from: number) => number) => {
  let end = -1;
  return (from) => {
    if (end >= from) return end;
    ends.lastIndex = from;
    end = ends.exec(text)?.index ?? text.length;
    return end;
  };
};

const partsOf = (text: string): readonly Part[] => {
  const endAfter = endsOf(text);
  const parts: Part[] = [];
  let from = 0;
  for (let at = text.indexOf(name); at >= 0; ) {
    const end = endAfter(at + name.length);
    const isReference = end > at + name.length && text[end] === "}";
    if (isReference) {
      parts.push({ text: text.slice(from, at) });
      parts.push({ text: text.slice(at, end + 1), key: text.slice(at + begin.length, end) });
      from = end + 1;
    }
    at = end >= text.length ? -1 : text.indexOf(name, isReference ? from : at + name.length);
  }
  return [...parts, { text: text.slice(from) }];
};

/** A resolved conf, and its levels of references. */
type Filled = { readonly text: string; readonly depth: number };

export type References = {
  /** The text with its references resolved; a reference to an unset conf, or back to itself, is unchanged. */
  readonly filled: (key: string, text: string) => string;
  /** Confs that exceed the bounds: they are unchanged. */
  readonly problems: () => readonly string[];
};

const tooDeep = `it refers to others through more than ${deepest} levels: write the value itself`;
const tooLong = `its references make more than ${mostFilled} characters (1 MiB) of all confs together: use fewer of them`;

/** The most problems that are named; the rest is counted. */
const mostNamed = 5;

const inWords = (problems: ReadonlyMap<string, string>): readonly string[] => {
  const named = [...problems].slice(0, mostNamed).map(([key, why]) => `${key}: ${why}`);
  const more = problems.size - named.length;
  return more === 0 ? named : [...named, `and the same holds for ${counted(more, "more conf")}`];
};

export const referencesIn = (conf: ReadonlyMap<string, string>): References => {
  const known = new Map<string, Filled>();
  const underWay = new Set<string>();
  const problems = new Map<string, string>();
  let left = mostFilled;

  const given = (key: string, why: string): Filled => {
    problems.set(key, why);
    return { text: conf.get(key) ?? "", depth: deepest + 1 };
  };

  /** Resolves a part; undefined for one that is unchanged. */
  const inPlaceOf = ({ key }: Part): Filled | undefined => {
    const text = key === undefined || underWay.has(key) ? undefined : conf.get(key);
    return key === undefined || text === undefined ? undefined : fill(key, text);
  };

  const joined = (key: string, parts: readonly Part[]): Filled => {
    const made = parts.map((part) => inPlaceOf(part) ?? { text: part.text, depth: 0 });
    const depth = 1 + made.reduce((most, one) => Math.max(most, one.depth), 0);
    if (depth > deepest) return given(key, tooDeep);
    const length = made.reduce((sum, { text }) => sum + text.length, 0);
    if (length > left) return given(key, tooLong);
    left -= length;
    return { text: made.map(({ text }) => text).join(""), depth };
  };

  const fill = (key: string, text: string): Filled => {
    const before = known.get(key);
    if (before !== undefined) return before;
    if (!text.includes(name)) return { text, depth: 0 };
    if (underWay.size > deepest) return given(key, tooDeep);
    underWay.add(key);
    const filled = joined(key, partsOf(text));
    underWay.delete(key);
    known.set(key, filled);
    return filled;
  };

  return {
    filled: (key, text) => fill(key, text).text,
    problems: () => inWords(problems),
  };
};
