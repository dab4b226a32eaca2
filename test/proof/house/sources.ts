/** The project's files as the house tests read them: text, code without comments and strings, imports. */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");

/** Paths of all tracked files, and of new files that git does not ignore, from the root; without links to folders. */
export const tracked: readonly string[] = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true);

export const read = (path: string): string => readFileSync(join(root, path), "utf8");

export const sourcesUnder = (...folders: readonly string[]): readonly string[] =>
  tracked.filter((path) => /\.tsx?$/.test(path) && folders.some((folder) => path.startsWith(`${folder}/`)));

/** Tokens without code (comments, strings, regular expressions), and the text that replaces each. */
const skipped: readonly { readonly whole: RegExp; readonly becomes: string }[] = [
  { whole: /\/\*[\s\S]*?\*\//y, becomes: " " },
  { whole: /\/\/[^\n]*/y, becomes: "" },
  { whole: /"(?:\\.|[^"\\\n])*"/y, becomes: '""' },
  { whole: /'(?:\\.|[^'\\\n])*'/y, becomes: '""' },
  {
    whole: /(?<=[(,=:[!&|?{};>]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y,
    becomes: "/-/",
  },
];

const at = (pattern: RegExp, text: string, index: number): string | undefined => {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
};

/** Finds the next hole of a template literal, or its end; `hole` says which of the two. */
const templateEnd = (text: string, from: number): { readonly index: number; readonly hole: boolean } => {
  for (let index = from; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === "`") return { index: index + 1, hole: false };
    else if (text.startsWith("${", index)) return { index: index + 2, hole: true };
  }
  return { index: text.length, hole: false };
};

type Scan = { readonly index: number; readonly code: string };

/** Reads a template literal from after its backtick: drops its text and keeps its holes as code. */
const template = (text: string, from: number): Scan => {
  const end = templateEnd(text, from);
  if (!end.hole) return { index: end.index, code: ' "" ' };
  const hole = scan(text, end.index, true);
  const rest = template(text, hole.index);
  return { index: rest.index, code: ` (${hole.code}) ${rest.code}` };
};

const step = (text: string, index: number): Scan => {
  if (text[index] === "`") return template(text, index + 1);
  for (const { whole, becomes } of skipped) {
    const found = at(whole, text, index);
    if (found !== undefined) return { index: index + found.length, code: becomes };
  }
  return { index: index + 1, code: text[index] ?? "" };
};

/** Reads code up to the end of the text, or of the template's hole. */
const scan = (text: string, from: number, inHole: boolean): Scan => {
  let code = "";
  let index = from;
  for (let depth = 0; index < text.length; ) {
    if (text[index] === "{") depth += 1;
    if (text[index] === "}") depth -= 1;
    if (inHole && depth < 0) return { index: index + 1, code };
    const next = step(text, index);
    code += next.code;
    index = next.index;
  }
  return { index, code };
};

/**
 * Returns code without comments and with empty strings; drops line breaks in comments. Holes of templates stay code.
 */
export const codeOf = (text: string): string => scan(text, 0, false).code;

type Literal = { readonly line: number; readonly text: string };

const holed = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;

/** Lists string and template literals with their lines; a hole of a template becomes its text, or `{…}` if long. */
export const literalsOf = (text: string): readonly Literal[] => {
  const found: Literal[] = [];
  const opening = /["'`/]/g;
  let line = 1;
  let counted = 0;
  for (let mark = opening.exec(text); mark !== null; mark = opening.exec(text)) {
    const end = step(text, mark.index).index;
    if (mark[0] !== "/") {
      line += text.slice(counted, mark.index).split("\n").length - 1;
      counted = mark.index;
      const inside = text.slice(mark.index + 1, end - 1);
      found.push({ line, text: inside.replaceAll(holed, (hole) => (hole.length < 30 ? hole.slice(1) : "{…}")) });
    }
    opening.lastIndex = end;
  }
  return found;
};

export type Import = {
  readonly from: string;
  readonly to: string;
  readonly line: number;
  /** True of a statement that imports types alone. */
  readonly isType: boolean;
};

const statement = /^(?:import|export)\s+(?:type\s)?(?:[^;"'`=]*?\sfrom\s+)?["']([^"']+)["']/gm;
const dynamic = /\bimport\(\s*["']([^"']+)["']\s*\)/g;

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

/** Returns a relative specifier as a path from the root, and a package as it is written. */
const resolve = (from: string, to: string): string => (to.startsWith(".") ? join(from, "..", to) : to);

/** Lists the imports of a file, static and dynamic. */
export const importsOf = (from: string): readonly Import[] => {
  const text = read(from);
  const fixed = [...text.matchAll(statement)].map((found) => ({
    to: resolve(from, found[1] ?? ""),
    line: lineAt(text, found.index),
    isType: /^(?:import|export)\s+type\s/.test(found[0]),
  }));
  const lazy = [...text.matchAll(dynamic)].map((found) => ({
    to: resolve(from, found[1] ?? ""),
    line: lineAt(text, found.index),
    isType: false,
  }));
  return [...fixed, ...lazy].map((found) => ({ from, ...found }));
};
