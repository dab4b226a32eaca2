/** Parses regular expressions into trees: only the syntax that this project uses. Other syntax is refused by name. */

/**
 * A set of symbols: the 128 of ASCII, the other blanks as one, the letters beyond ASCII that expressions name, and all
 * others as one.
 */
export type Symbols = bigint;

const named = [0xb5, 0x3bc, 0x2026, 0x2192];
export const symbols = 130 + named.length;
const all = (1n << BigInt(symbols)) - 1n;
const farBlank = 1n << 128n;
const others = 1n << 129n;

export type Node =
  | { readonly is: "class"; readonly of: Symbols }
  | { readonly is: "empty" }
  /** `^`, `$`, `\b`, `\B`: may fail, reads no letter. */
  | { readonly is: "assertion"; readonly anchors: boolean }
  | { readonly is: "look"; readonly of: Node }
  | { readonly is: "all"; readonly of: readonly Node[] }
  | { readonly is: "any"; readonly of: readonly Node[] }
  | { readonly is: "times"; readonly of: Node; readonly least: number; readonly most: number };

const beyond = all & ~((1n << 128n) - 1n);

const far = (code: number): Symbols => {
  if (/\s/.test(String.fromCodePoint(code))) return farBlank;
  const at = named.indexOf(code);
  return at < 0 ? others : 1n << BigInt(130 + at);
};

const one = (code: number): Symbols => (code > 127 ? far(code) : 1n << BigInt(code));

const range = (from: number, to: number): Symbols => {
  let found = to > 127 ? beyond : 0n;
  for (let code = from; code <= Math.min(to, 127); code += 1) found |= one(code);
  return found;
};

const digits = range(48, 57);
const words = digits | range(65, 90) | range(97, 122) | one(95);
const blanks = one(32) | range(9, 13) | farBlank;
const lineEnds = one(10) | one(13);

/** The classes `\d`, `\w`, `\s` and their complements. */
const shorthands: Readonly<Record<string, Symbols>> = {
  d: digits,
  D: all & ~digits,
  w: words,
  W: all & ~words,
  s: blanks,
  S: all & ~blanks,
};

const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 };

const bothCases = (of: Symbols): Symbols => {
  let found = of;
  for (let code = 65; code <= 90; code += 1) {
    const [upper, lower] = [1n << BigInt(code), 1n << BigInt(code + 32)];
    if ((of & (upper | lower)) !== 0n) found |= upper | lower;
  }
  return found;
};

/** Parses a pattern from its start to its end. */
export const parsePattern = (source: string, flags: string): Node => {
  let at = 0;
  const isFolded = flags.includes("i");
  const made = (of: Symbols): Node => ({ is: "class", of: isFolded ? bothCases(of) : of });
  const refuse = (what: string): never => {
    throw new Error(`${what} at ${at} of /${source}/${flags}`);
  };
  const takes = (text: string): boolean => {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  const hex = (length: number): Symbols => {
    const code = Number.parseInt(source.slice(at, at + length), 16);
    at += length;
    return one(code);
  };

  /** Reads the rest of `\\x`, `\\u` or `\\p`: a letter by its number, or a class of Unicode. */
  const numbered = (letter: string): Symbols => {
    if (letter === "x") return hex(2);
    if (letter === "u" && !takes("{")) return hex(4);
    const end = source.indexOf("}", at);
    const text = source.slice(at, end).replace("{", "");
    at = end + 1;
    return letter === "u" ? one(Number.parseInt(text, 16)) : all;
  };

  /** Reads the rest of an escape, after its backslash. */
  const escaped = (): Symbols => {
    const letter = source[at] ?? refuse("an end");
    at += 1;
    if (/[1-9k]/.test(letter)) return refuse("a reference back");
    if (/[xupP]/.test(letter)) return numbered(letter);
    return shorthands[letter] ?? one(controls[letter] ?? letter.codePointAt(0) ?? 0);
  };

  const letter = (): number => {
    const code = source.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    return code;
  };

  type Member = { readonly of: Symbols; readonly code: number | undefined };

  const member = (): Member => {
    if (!takes("\\")) {
      const code = letter();
      return { of: one(code), code };
    }
    const isClass = /[dDwWsSpP]/.test(source[at] ?? "");
    const of = escaped();
    return { of, code: isClass ? undefined : codeOf(of) };
  };

  /** Reads a part of a class: a letter, a shorthand, or a range of letters. */
  const span = (): Symbols => {
    const from = member();
    if (from.code === undefined || source[at] !== "-" || source[at + 1] === "]") return from.of;
    at += 1;
    const to = member();
    return to.code === undefined ? from.of | one(45) | to.of : range(from.code, to.code);
  };

  const classOf = (): Node => {
    const isNegated = takes("^");
    let found = 0n;
    while (!takes("]")) {
      if (at >= source.length) return refuse("a class without end");
      found |= span();
    }
    const folded = isFolded ? bothCases(found) : found;
    return { is: "class", of: isNegated ? (all & ~folded) | (folded & others) : folded };
  };

  const group = (): Node => {
    const look = ["?=", "?!", "?<=", "?<!"].some(takes);
    if (!look && !takes("?:") && takes("?<")) at = source.indexOf(">", at) + 1;
    const of = alternatives();
    if (!takes(")")) return refuse("a group without end");
    return look ? { is: "look", of } : of;
  };

  const assertion = (): Node | undefined => {
    if (takes("^")) return { is: "assertion", anchors: !flags.includes("m") };
    return ["$", "\\b", "\\B"].some(takes) ? { is: "assertion", anchors: false } : undefined;
  };

  const atom = (): Node => {
    if (takes("(")) return group();
    if (takes("[")) return classOf();
    const found = assertion();
    if (found !== undefined) return found;
    if (takes(".")) return made(flags.includes("s") ? all : all & ~lineEnds);
    return made(takes("\\") ? escaped() : one(letter()));
  };

  /** Reads the quantifier of the part before it. Returns its bounds. */
  const repetition = (): readonly [least: number, most: number] => {
    if (takes("*")) return [0, Number.POSITIVE_INFINITY];
    if (takes("+")) return [1, Number.POSITIVE_INFINITY];
    if (takes("?")) return [0, 1];
    const [whole = "", least = "1", comma, most = ""] = /^\{(\d+)(,(\d*))?\}/.exec(source.slice(at)) ?? [];
    at += whole.length;
    return [Number(least), whole === "" || comma === undefined ? Number(least) : Number(most || "Infinity")];
  };

  const counted = (of: Node): Node => {
    const [least, most] = repetition();
    takes("?");
    return least === 1 && most === 1 ? of : { is: "times", of, least, most };
  };

  const sequence = (): Node => {
    const parts: Node[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(counted(atom()));
    return { is: "all", of: parts };
  };

  const alternatives = (): Node => {
    const parts = [sequence()];
    while (takes("|")) parts.push(sequence());
    return parts.length === 1 ? (parts[0] ?? { is: "empty" }) : { is: "any", of: parts };
  };

  const read = alternatives();
  return at < source.length ? refuse("a bracket too many") : read;
};

/** Returns the code of the only letter of a class; the result for a larger class does not matter. */
const codeOf = (of: Symbols): number => of.toString(2).length - 1;
