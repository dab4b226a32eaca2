/** The regular expression literals of a source file. */

type Literal = { readonly source: string; readonly flags: string };

const comment = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/y;
const quoted = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y;
const literal =
  /\/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*)\/([dgimsuvy]*)/y;
/** Matches code after which a slash begins an expression; after other code a slash divides. */
const before = /(?:^|[(,=:[!&|?{};>]|\breturn)$/;

const at = (pattern: RegExp, text: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index;
  return pattern.exec(text);
};

/** Open templates, the innermost last: the number of open brackets in its hole, or undefined while its text is read. */
type Templates = (number | undefined)[];

/** Reads a letter, an escape, or the begin of a hole in a template's text. Returns the index after it. */
const pastText = (text: string, index: number, templates: Templates): number => {
  if (text[index] === "`") templates.pop();
  if (!text.startsWith("${", index)) return index + (text[index] === "\\" ? 2 : 1);
  templates[templates.length - 1] = 0;
  return index + 2;
};

/** Follows brackets and backticks of code: they open templates and close their holes. */
const countBrackets = (letter: string, templates: Templates): void => {
  const depth = templates.at(-1);
  if (letter === "`") templates.push(undefined);
  if (depth === undefined) return;
  if (letter === "{") templates[templates.length - 1] = depth + 1;
  if (letter === "}") templates[templates.length - 1] = depth === 0 ? undefined : depth - 1;
};

/** Returns the end of the code read so far, which decides whether a slash begins an expression. */
const endOf = (code: string, taken: string): string => {
  if (/^\/[/*]/.test(taken)) return code;
  if (taken.trim() !== "") return /^["']/.test(taken) ? '"' : `${code}${taken}`.slice(-10);
  return /\w$/.test(code) && !/\breturn$/.test(code) ? `${code} ` : code;
};

type Piece = { readonly taken: string; readonly one?: Literal };

/** Reads the next piece of code: a comment, a quotation, an expression, or a letter. */
const pieceAt = (text: string, index: number, code: string): Piece => {
  const word = at(comment, text, index) ?? at(quoted, text, index);
  if (word !== null) return { taken: word[0] };
  const [taken, source = "", flags = ""] = (before.test(code) ? at(literal, text, index) : null) ?? [];
  return taken === undefined ? { taken: text[index] ?? "" } : { taken, one: { source, flags } };
};

export const literalsIn = (text: string): readonly Literal[] => {
  const found: Literal[] = [];
  const templates: Templates = [];
  let code = "";
  for (let index = 0; index < text.length; ) {
    if (templates.length > 0 && templates.at(-1) === undefined) {
      index = pastText(text, index, templates);
      code = templates.at(-1) === 0 ? "(" : '"';
      continue;
    }
    const { taken, one } = pieceAt(text, index, code);
    if (one !== undefined) found.push(one);
    if (taken.length === 1) countBrackets(taken, templates);
    index += taken.length;
    code = endOf(code, taken);
  }
  return found;
};
