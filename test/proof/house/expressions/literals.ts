/** The regular expressions that a source file writes as literals. */

type Literal = { readonly source: string; readonly flags: string };

const comment = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/y;
const quoted = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y;
const literal =
  /\/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*)\/([dgimsuvy]*)/y;
/** A slash behind one of these begins an expression; behind anything else it divides. */
const before = /(?:^|[(,=:[!&|?{};>]|\breturn)$/;

const at = (pattern: RegExp, text: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index;
  return pattern.exec(text);
};

/** Open templates, the innermost last: how many brackets are open in its hole; undefined: its text is read. */
type Templates = (number | undefined)[];

/** One letter, or two, of a template's text. */
const pastText = (text: string, index: number, templates: Templates): number => {
  if (text[index] === "`") templates.pop();
  if (!text.startsWith("${", index)) return index + (text[index] === "\\" ? 2 : 1);
  templates[templates.length - 1] = 0;
  return index + 2;
};

/** Brackets and backticks of code say where templates begin and where their holes end. */
const countBrackets = (letter: string, templates: Templates): void => {
  const depth = templates.at(-1);
  if (letter === "`") templates.push(undefined);
  if (depth === undefined) return;
  if (letter === "{") templates[templates.length - 1] = depth + 1;
  if (letter === "}") templates[templates.length - 1] = depth === 0 ? undefined : depth - 1;
};

/** The end of the code that was read, as far as it says whether a slash begins an expression. */
const endOf = (code: string, taken: string): string => {
  if (/^\/[/*]/.test(taken)) return code;
  if (taken.trim() !== "") return /^["']/.test(taken) ? '"' : `${code}${taken}`.slice(-10);
  return /\w$/.test(code) && !/\breturn$/.test(code) ? `${code} ` : code;
};

type Piece = { readonly taken: string; readonly one?: Literal };

/** What stands next in code: a comment, a quotation, an expression, or a letter. */
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
