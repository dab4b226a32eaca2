/**
 * References between confs, `${spark.x}`, as Spark's ConfigReader fills them in. Each conf is filled in once and each text
 * is scanned once, and what comes of it is bounded: a few doubling references would otherwise take all memory there is.
 */
import { counted } from "../../core/counted.ts";

/** The filled texts of one application hold so many characters together, as many as its ConfigMap could. */
const mostFilled = 1_048_576;

/** A reference leads through so many others at most. */
const deepest = 32;

const begin = "${";
const name = "${spark.";

/** A text in parts: words as they stand, and references by their keys. */
type Part = { readonly text: string; readonly key?: string };

const ends = /[}\s]/g;

/** Where the key that begins before `from` ends: at a brace or a space; both are found by one pass over the text. */
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

/** A conf that is filled in, and through how many others; or why it cannot be. */
type Filled = { readonly text: string; readonly depth: number };

export type References = {
  /** The text with what it refers to; what is not set, or leads back to itself, stays. */
  readonly filled: (key: string, text: string) => string;
  /** Confs that cannot be filled in within the bounds: they stay as they are written. */
  readonly problems: () => readonly string[];
};

const tooDeep = `it refers to others through more than ${deepest} levels: write the value itself`;
const tooLong = `its references make more than ${mostFilled} characters (1 MiB) of all confs together: use fewer of them`;

/** So many are named, the rest is counted. */
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

  /** What a part becomes; undefined where it stays. */
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
