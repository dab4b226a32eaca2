/**
 * Reads a table of mutants. An empty line ends a block, and a line that begins with # is a comment. The first line of a block
 * names the source file, and what must see the mutants of the block:
 *
 *     @ FILE tests TEST…
 *     @ FILE sweep SCENARIO… faults REGEX
 *
 * Each mutant is a line `NAME: PROMISE`; then its edit as in a patch: the text to find in lines that begin with -, its
 * replacement in lines that begin with + (none: the text is removed), and `calls` in lines that begin with =.
 */
import type { Mutant } from "./mutants.ts";

const header = /^@ (?<file>\S+) (?:tests (?<tests>.+)|sweep (?<scenarios>.+) faults (?<fault>\S+))$/;
const title = /^(?<name>[A-Za-z][\w-]*): (?<promise>.+)$/;

/** The judges of a block, by its first line. */
const judgesOf = (line: string) => {
  const { file, tests, scenarios, fault } = header.exec(line)?.groups ?? {};
  if (file === undefined) throw new Error(`no head of a block of mutants: ${line}`);
  if (fault !== undefined) return { file, scenarios: (scenarios ?? "").split(" "), fault };
  return { file, tests: (tests ?? "").split(" ") };
};

/** The lines with this sign, without it. */
const textOf = (lines: readonly string[], sign: string): string =>
  lines.flatMap((line) => (line.startsWith(sign) ? line.slice(2) : [])).join("\n");

const editOf = (first: string, lines: readonly string[]) => {
  const { name, promise } = title.exec(first)?.groups ?? {};
  if (name === undefined || promise === undefined) throw new Error(`no name and promise of a mutant: ${first}`);
  const stray = lines.find((line) => !/^[-+=](?: |$)/.test(line));
  if (stray !== undefined) throw new Error(`the mutant ${name} has a line without a sign: ${stray}`);
  const [find, replace, calls] = [textOf(lines, "-"), textOf(lines, "+"), textOf(lines, "=")];
  if (find === "") throw new Error(`the mutant ${name} finds nothing`);
  return { name, promise, find, replace, ...(calls === "" ? {} : { calls }) };
};

const blockOf = ([head = "", ...lines]: readonly string[]): readonly Mutant[] => {
  const judges = judgesOf(head);
  const titles = lines.flatMap((line, at) => (title.test(line) || at === 0 ? [at] : []));
  return titles.map((at, index) => ({
    ...editOf(lines[at] ?? "", lines.slice(at + 1, titles[index + 1])),
    ...judges,
  }));
};

/** Returns the mutants of a table; throws on a line that is none of its lines. */
export const mutantsIn = (text: string): readonly Mutant[] =>
  text
    .split(/\n\n+/)
    .map((block) => block.split("\n").filter((line) => line !== "" && !line.startsWith("#")))
    .filter((lines) => lines.length > 0)
    .flatMap(blockOf);
