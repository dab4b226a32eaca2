/** Finds the files whose content has changed since a check last passed, so that it skips all others. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** SHA-256 of each file, by its path. */
export type Fingerprints = Readonly<Record<string, string>>;

const digestOf = (content: Buffer | string): string => createHash("sha256").update(content).digest("hex");

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Digests of the files of a folder that are tracked or not ignored; all of them, or those that match patterns of git. */
export const fingerprints = (folder = ".", patterns: readonly string[] = []): Fingerprints => {
  const args = ["ls-files", "-co", "--exclude-standard", "-z", "--", ...patterns];
  const listed = execFileSync("git", args, { cwd: folder, encoding: "utf8" });
  const paths = listed.split("\0").filter((path) => path !== "" && isFile(join(folder, path)));
  return Object.fromEntries(paths.map((path) => [path, digestOf(readFileSync(join(folder, path)))]));
};

type Passed = { readonly key: string; readonly files: Fingerprints };

const stored = (cache: string): Partial<Passed> => {
  try {
    return JSON.parse(readFileSync(cache, "utf8"));
  } catch {
    return {};
  }
};

/**
 * Files that differ from those that passed; undefined without a stored result, or when the check's key (tool, version,
 * configuration) has changed.
 */
export const changedSince = (cache: string, key: string, files: Fingerprints): readonly string[] | undefined => {
  const passed = stored(cache);
  if (passed.key !== digestOf(key) || passed.files === undefined) return undefined;
  const before = passed.files;
  return Object.keys(files).filter((path) => files[path] !== before[path]);
};

/** Stores the digests of files that passed. */
export const rememberPassed = (cache: string, key: string, files: Fingerprints): void => {
  mkdirSync(dirname(cache), { recursive: true });
  writeFileSync(cache, JSON.stringify({ key: digestOf(key), files } satisfies Passed));
};
