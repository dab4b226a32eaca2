/** The arguments of `npm run mutants`, and the mutants that they choose. */
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { mutants } from "./all.ts";
import type { Mutant } from "./mutants.ts";

export const help = `npm run mutants [-- [NAME… | --short | --refactorings] [--threads N] [--json FILE]]

  NAME         only these
  --short      only the first mutant of each folder of sources
  --refactorings  runs no mutant: renames each function of every file that a mutant edits, and moves the file; each
               mutant must still make its edit there
  --threads N  as many at once (default: one per processor, at most 4)
  --json FILE  writes the result as data, too

${mutants.map(({ name, promise }) => `  ${name.padEnd(26)} ${promise}`).join("\n")}`;

const folderOf = ({ file }: Mutant): string => dirname(file);

/** True for the first mutant of a folder of sources. */
const isFirst = (mutant: Mutant): boolean => mutants.find((one) => folderOf(one) === folderOf(mutant)) === mutant;

/** The mutants that a command line chooses; throws on a name that no mutant has. */
const choose = (names: readonly string[], isShort: boolean): readonly Mutant[] => {
  if (isShort && names.length > 0) throw new Error("--short chooses the mutants: leave out the names");
  if (isShort) return mutants.filter(isFirst);
  const unknown = names.find((name) => mutants.every((mutant) => mutant.name !== name));
  if (unknown !== undefined) throw new Error(`no mutant ${unknown}`);
  return names.length === 0 ? mutants : mutants.filter(({ name }) => names.includes(name));
};

const parsed = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      short: { type: "boolean", default: false },
      refactorings: { type: "boolean", default: false },
      threads: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });

type Read = { readonly values: ReturnType<typeof parsed>["values"]; readonly chosen: readonly Mutant[] };

/** Reads the arguments; `failure` says what is wrong with them. */
export const readArguments = (args: readonly string[]): Read | { readonly failure: string } => {
  try {
    const { values, positionals } = parsed(args);
    return { values, chosen: choose(positionals, values.short) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split(". ")[0] : String(cause);
    return { failure: `${why}. Names of mutants are positional: npm run mutants -- NAME…; --help names them` };
  }
};
