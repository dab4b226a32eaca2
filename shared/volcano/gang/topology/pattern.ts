/**
 * Regular expressions of HyperNodes, in Go's syntax, matched within a bound: the text is read once, and the work of each
 * character is at most the size of the expression, whatever the expression is. JavaScript's own matcher may take time that
 * grows exponentially.
 */

type Range = readonly [first: number, last: number];

type Expression =
  | { readonly is: "set"; readonly ranges: readonly Range[]; readonly isNegated: boolean }
  | { readonly is: "start" | "end" }
  | { readonly is: "sequence" | "choice"; readonly of: readonly Expression[] }
  | { readonly is: "repeat"; readonly of: Expression; readonly least: number; readonly most: number };

/** `wrong`: says why the expression cannot be used. */
type Cursor = { readonly text: string; at: number; depth: number; wrong?: string };

const last = 0x10ffff;

const digit: readonly Range[] = [[48, 57]];
const lower: readonly Range[] = [[97, 122]];
const upper: readonly Range[] = [[65, 90]];
const word: readonly Range[] = [...digit, ...upper, [95, 95], ...lower];
const space: readonly Range[] = [
  [9, 13],
  [32, 32],
];

/** By the letter after a backslash. */
const classes: Readonly<Record<string, readonly Range[]>> = { d: digit, w: word, s: space };

const posix: Readonly<Record<string, readonly Range[]>> = {
  ...{ alnum: [...digit, ...upper, ...lower], alpha: [...upper, ...lower], digit, lower, upper, space, word },
  xdigit: [...digit, [65, 70], [97, 102]],
};

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

const inverted = (ranges: readonly Range[]): readonly Range[] => {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const gaps: Range[] = [];
  let next = 0;
  for (const [first, end] of sorted) {
    if (first > next) gaps.push([next, first - 1]);
    next = Math.max(next, end + 1);
  }
  return next > last ? gaps : [...gaps, [next, last]];
};

const empty: Expression = { is: "sequence", of: [] };

const setOf = (ranges: readonly Range[], isNegated = false): Expression => ({ is: "set", ranges, isNegated });

const one = (code: number): readonly Range[] => [[code, code]];

const failed = (cursor: Cursor, why: string): void => {
  cursor.wrong ??= why;
  cursor.at = cursor.text.length;
};

const take = (cursor: Cursor, text: string): boolean => {
  if (!cursor.text.startsWith(text, cursor.at)) return false;
  cursor.at += text.length;
  return true;
};

const next = (cursor: Cursor): string => {
  const code = cursor.text.codePointAt(cursor.at);
  const letter = code === undefined ? "" : String.fromCodePoint(code);
  cursor.at += letter.length;
  return letter;
};

/** Reads what stands after a backslash. */
const escaped = (cursor: Cursor): readonly Range[] => {
  const letter = next(cursor);
  const known = classes[letter.toLowerCase()];
  if (known !== undefined) return letter === letter.toLowerCase() ? known : inverted(known);
  const control = controls[letter];
  if (control !== undefined) return one(control);
  const [hex, braced, plain] = /^(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2}))/.exec(cursor.text.slice(cursor.at)) ?? [];
  if (letter === "x" && hex !== undefined) {
    cursor.at += hex.length;
    return one(Number.parseInt(braced ?? plain ?? "", 16));
  }
  if (letter === "" || /[A-Za-z0-9]/.test(letter)) failed(cursor, `\\${letter} is not supported`);
  return one(letter.codePointAt(0) ?? 0);
};

/** Reads one member of a class: a letter, an escape, or a named class. */
const memberOf = (cursor: Cursor): readonly Range[] => {
  const [whole, not = "", name = ""] = /^\[:(\^?)([a-z]+):\]/.exec(cursor.text.slice(cursor.at)) ?? [];
  if (whole !== undefined) {
    cursor.at += whole.length;
    const known = posix[name];
    if (known === undefined) failed(cursor, `the class [:${name}:] is not supported`);
    return not === "" ? (known ?? []) : inverted(known ?? []);
  }
  return take(cursor, "\\") ? escaped(cursor) : one(next(cursor).codePointAt(0) ?? 0);
};

/** Reads a class after its opening bracket. */
const classOf = (cursor: Cursor): Expression => {
  const isNegated = take(cursor, "^");
  const ranges: Range[] = [];
  for (let isFirst = true; isFirst || !take(cursor, "]"); isFirst = false) {
    if (cursor.at >= cursor.text.length) {
      failed(cursor, "a bracket is not closed");
      break;
    }
    const member = memberOf(cursor);
    const [low] = member[0] ?? [0];
    const isRange = cursor.text[cursor.at] === "-" && !["]", undefined].includes(cursor.text[cursor.at + 1]);
    if (isRange) cursor.at += 1;
    const [, high] = (isRange ? memberOf(cursor)[0] : undefined) ?? [0, low];
    if (high < low) failed(cursor, "a range of letters is the wrong way round");
    ranges.push(...(isRange ? [[low, high] as const] : member));
  }
  return setOf(ranges, isNegated);
};

/** Groups within groups that are read. */
const mostDepth = 50;

/** Reads a group after its opening parenthesis. */
const groupOf = (cursor: Cursor): Expression => {
  cursor.depth += 1;
  if (cursor.depth > mostDepth) failed(cursor, "its groups are nested too deep");
  const [name] = /^\?(?::|P?<\w+>)/.exec(cursor.text.slice(cursor.at)) ?? [];
  cursor.at += name?.length ?? 0;
  if (take(cursor, "?")) failed(cursor, "flags and assertions of groups are not supported");
  const inner = choiceOf(cursor);
  if (!take(cursor, ")")) failed(cursor, "a parenthesis is not closed");
  cursor.depth -= 1;
  return inner;
};

const atomOf = (cursor: Cursor): Expression => {
  if (take(cursor, "(")) return groupOf(cursor);
  if (take(cursor, "[")) return classOf(cursor);
  if (take(cursor, ".")) return setOf(one(10), true);
  if (take(cursor, "^") || take(cursor, "\\A")) return { is: "start" };
  if (take(cursor, "$") || take(cursor, "\\z")) return { is: "end" };
  if (take(cursor, "\\")) return setOf(escaped(cursor));
  const letter = next(cursor);
  if (["*", "+", "?"].includes(letter)) failed(cursor, `nothing stands before ${letter}`);
  return setOf(one(letter.codePointAt(0) ?? 0));
};

/** The highest number of a counted repetition, as Go's. */
const mostCount = 1_000;

const boundsOf = (cursor: Cursor): readonly [least: number, most: number] | undefined => {
  if (take(cursor, "*")) return [0, Number.POSITIVE_INFINITY];
  if (take(cursor, "+")) return [1, Number.POSITIVE_INFINITY];
  if (take(cursor, "?")) return [0, 1];
  const [whole, low = "", comma, high = ""] = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(cursor.text.slice(cursor.at)) ?? [];
  if (whole === undefined) return undefined;
  cursor.at += whole.length;
  const least = Number(low);
  const most = comma === undefined ? least : high === "" ? Number.POSITIVE_INFINITY : Number(high);
  if (least > mostCount || (most > mostCount && most !== Number.POSITIVE_INFINITY) || most < least)
    failed(cursor, `${whole} is not a valid repetition`);
  return [least, most];
};

const repeatedOf = (cursor: Cursor): Expression => {
  let of = atomOf(cursor);
  for (let bounds = boundsOf(cursor); bounds !== undefined; bounds = boundsOf(cursor)) {
    // Lazy repetitions match the same texts.
    take(cursor, "?");
    of = { is: "repeat", of, least: bounds[0], most: bounds[1] };
  }
  return of;
};

const sequenceOf = (cursor: Cursor): Expression => {
  const of: Expression[] = [];
  while (cursor.at < cursor.text.length && !["|", ")"].includes(cursor.text[cursor.at] ?? ""))
    of.push(repeatedOf(cursor));
  return { is: "sequence", of };
};

const choiceOf = (cursor: Cursor): Expression => {
  const of = [sequenceOf(cursor)];
  while (take(cursor, "|")) of.push(sequenceOf(cursor));
  return of.length === 1 ? (of[0] ?? empty) : { is: "choice", of };
};

/** An instruction of the matcher; `to`: further instructions that follow without a letter. */
type Instruction =
  | { readonly does: "letter"; readonly set: Extract<Expression, { is: "set" }> }
  | { readonly does: "start" | "end" | "found" }
  | { readonly does: "go"; to: readonly number[] };

/** The largest program: repetitions are written out. */
const mostInstructions = 2_000;

const emit = (code: Instruction[], expression: Expression): void => {
  if (code.length > mostInstructions) return;
  switch (expression.is) {
    case "set":
      code.push({ does: "letter", set: expression });
      return;
    case "start":
    case "end":
      code.push({ does: expression.is });
      return;
    case "sequence":
      for (const part of expression.of) emit(code, part);
      return;
    case "choice":
      emitChoice(code, expression.of);
      return;
    case "repeat":
      emitRepeat(code, expression);
  }
};

const emitGo = (code: Instruction[]): Extract<Instruction, { does: "go" }> => {
  const go: Extract<Instruction, { does: "go" }> = { does: "go", to: [] };
  code.push(go);
  return go;
};

const emitChoice = (code: Instruction[], of: readonly Expression[]): void => {
  const fork = emitGo(code);
  const starts: number[] = [];
  const ends = of.map((part) => {
    starts.push(code.length);
    emit(code, part);
    return emitGo(code);
  });
  fork.to = starts;
  for (const end of ends) end.to = [code.length];
};

const emitRepeat = (code: Instruction[], { of, least, most }: Extract<Expression, { is: "repeat" }>): void => {
  for (let count = 0; count < least && code.length <= mostInstructions; count++) {
    const before = code.length;
    emit(code, of);
    if (code.length === before) return;
  }
  if (most === Number.POSITIVE_INFINITY) {
    const at = code.length;
    const fork = emitGo(code);
    emit(code, of);
    emitGo(code).to = [at];
    fork.to = [at + 1, code.length];
    return;
  }
  const forks: Extract<Instruction, { does: "go" }>[] = [];
  for (let count = least; count < most && code.length <= mostInstructions; count++) {
    forks.push(emitGo(code));
    const at = code.length;
    emit(code, of);
    for (const fork of forks.slice(-1)) fork.to = [at];
  }
  for (const fork of forks) fork.to = [...fork.to, code.length];
};

const has = (ranges: readonly Range[], code: number): boolean =>
  ranges.some(([first, end]) => first <= code && code <= end);

/** The work that may still be done, in instructions. */
export type Budget = { left: number };

type Run = {
  readonly code: readonly Instruction[];
  readonly isFolded: boolean;
  readonly text: string;
  readonly budget: Budget;
};

/** Adds an instruction and those that follow it without a letter. */
const follow = ({ code, text, budget }: Run, threads: Set<number>, first: number, at: number): void => {
  const open = [first];
  for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
    const instruction = code[pc];
    if (instruction === undefined || threads.has(pc)) continue;
    threads.add(pc);
    budget.left -= 1;
    if (instruction.does === "go") open.push(...instruction.to);
    if ((instruction.does === "start" && at === 0) || (instruction.does === "end" && at === text.length))
      open.push(pc + 1);
  }
};

const accepts = (
  { isFolded }: Run,
  { ranges, isNegated }: Extract<Expression, { is: "set" }>,
  letter: string,
): boolean => {
  const forms = isFolded ? [letter, letter.toLowerCase(), letter.toUpperCase()] : [letter];
  return forms.some((form) => has(ranges, form.codePointAt(0) ?? 0)) !== isNegated;
};

const found = (run: Run): boolean | undefined => {
  let threads = new Set<number>();
  let at = 0;
  for (;;) {
    follow(run, threads, 0, at);
    if ([...threads].some((pc) => run.code[pc]?.does === "found")) return true;
    if (run.budget.left < 0) return undefined;
    const letter = run.text[at];
    if (letter === undefined) return false;
    const then = new Set<number>();
    for (const pc of threads) {
      const instruction = run.code[pc];
      if (instruction?.does === "letter" && accepts(run, instruction.set, letter)) follow(run, then, pc + 1, at + 1);
    }
    threads = then;
    at += 1;
  }
};

/** Returns whether the expression is found anywhere in a text; undefined if the budget is used up. */
export type Matcher = (text: string, budget: Budget) => boolean | undefined;

export type Pattern = { readonly matches: Matcher; readonly wrong?: undefined } | { readonly wrong: string };

/** Letters that a text must have for the expression to be found in it: at its start if the expression begins there. */
type Literal = { readonly text: string; readonly isFirst: boolean };

const literalOf = (expression: Expression): Literal => {
  const parts = expression.is === "sequence" ? expression.of : [expression];
  const isFirst = parts[0]?.is === "start";
  let text = "";
  for (const part of isFirst ? parts.slice(1) : parts) {
    const [range, ...more] = part.is === "set" && !part.isNegated ? part.ranges : [];
    if (range === undefined || more.length > 0 || range[0] !== range[1] || range[0] > last) break;
    text += String.fromCodePoint(range[0]);
  }
  return { text, isFirst };
};

const mayHave = ({ text, isFirst }: Literal, name: string): boolean =>
  isFirst ? name.startsWith(text) : name.includes(text);

/** The longest expression that is read, characters. */
const mostText = 1_024;

/** Reads an expression; `wrong` says why it cannot be used. */
export const patternOf = (text: string): Pattern => {
  if (text.length > mostText) return { wrong: `it is longer than ${mostText} characters` };
  const isFolded = text.startsWith("(?i)");
  const cursor: Cursor = { text: isFolded ? text.slice(4) : text, at: 0, depth: 0 };
  const expression = choiceOf(cursor);
  if (cursor.wrong === undefined && cursor.at < cursor.text.length) cursor.wrong = "a parenthesis is not opened";
  if (cursor.wrong !== undefined) return { wrong: cursor.wrong };
  const code: Instruction[] = [];
  emit(code, expression);
  if (code.length > mostInstructions) return { wrong: "its repetitions are too large" };
  code.push({ does: "found" });
  const literal = isFolded ? literalOf(empty) : literalOf(expression);
  return {
    matches: (name, budget) => {
      budget.left -= 1;
      return mayHave(literal, name) && found({ code, isFolded, text: name, budget });
    },
  };
};
