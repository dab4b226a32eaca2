/**
 * `npm run mutants -- --refactorings`: refactorings in a copy in memory, after which each mutant must still make the same edit.
 * In each file that a mutant edits, each function of the file is renamed, in the file and in those that import it; then the
 * file itself moves into another folder.
 */
import { posix } from "node:path";
import { edited, isSameCode, placeOf, type Sources } from "./anchors.ts";
import type { Mutant } from "./mutants.ts";

type Refactoring = {
  /** In words. */
  readonly did: string;
  readonly file: string;
  /** Returns a file's text afterwards. */
  readonly apply: (file: string, text: string) => string;
  /** The file's path afterwards. */
  readonly path: string;
};

export type Broken = { readonly mutant: string; readonly by: string; readonly why: string };

const declared = /^(?:export )?(?:const (\w+) = (?:async )?(?:<[^\n]*>)?\(|(?:async )?function\*? (\w+))/gm;

const functionsOf = (text: string): readonly string[] =>
  [...text.matchAll(declared)].flatMap(([, value, named]) => value ?? named ?? []);

/** Renames an identifier, and leaves properties of that name alone. */
const renaming = (name: string): ((text: string) => string) => {
  const found = new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)${name}(?![\\w$])`, "g");
  return (text) => text.replaceAll(found, `${name}Anew`);
};

const renamesOf = (file: string, text: string): readonly Refactoring[] =>
  functionsOf(text).map((name) => {
    const rename = renaming(name);
    return { did: `${name} of ${file} is renamed`, file, path: file, apply: (_, old) => rename(old) };
  });

/** The move of a file into a folder below its own: its imports of neighbours change. */
const moveOf = (file: string): Refactoring => {
  const path = posix.join(posix.dirname(file), "moved", posix.basename(file));
  const apply = (_: string, old: string): string =>
    old.replaceAll(/"(\.\.?\/[^"\n]+\.tsx?)"/g, (_whole, to: string) => `"${posix.join("..", to)}"`);
  return { did: `${file} is moved`, file, path, apply };
};

/** Why a mutant does not make the same edit after a refactoring; undefined: it does. */
const whyBroken = (mutant: Mutant, { file, path, apply }: Refactoring, sources: Sources): string | undefined => {
  const text = sources.get(file) ?? "";
  const before = placeOf(mutant, sources);
  if ("failure" in before) return before.failure;
  const after = new Map(sources);
  after.delete(file);
  after.set(path, apply(file, text));
  const place = placeOf(mutant, after);
  if ("failure" in place) return place.failure;
  const made = edited(after.get(place.file) ?? "", place);
  const wanted = apply(file, edited(text, before));
  return made === wanted || isSameCode(made, wanted) ? undefined : `it makes another edit, in ${place.file}`;
};

export type Tally = { readonly refactorings: number; readonly tried: number; readonly broken: readonly Broken[] };

/** Tries every refactoring of the files that mutants edit, each with the mutants of its file. */
export const tryRefactorings = (mutants: readonly Mutant[], sources: Sources): Tally => {
  const broken: Broken[] = [];
  let [refactorings, tried] = [0, 0];
  for (const [file, among] of Map.groupBy(mutants, (mutant) => mutant.file))
    for (const refactoring of [...renamesOf(file, sources.get(file) ?? ""), moveOf(file)]) {
      refactorings += 1;
      for (const mutant of among) {
        tried += 1;
        const why = whyBroken(mutant, refactoring, sources);
        if (why !== undefined) broken.push({ mutant: mutant.name, by: refactoring.did, why });
      }
    }
  return { refactorings, tried, broken };
};
