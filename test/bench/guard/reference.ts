/** The build of an earlier commit, beside which the guard measures processor time: the machine is the same for both. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");
const cache = join(root, "node_modules", ".cache", "guard");

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1_024 * 1_024 }).trim();

/** Returns the commit that is checked out. */
export const headCommit = (): string => git("rev-parse", "HEAD");

const isInClone = (commit: string): boolean =>
  spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root, stdio: "ignore" }).status === 0;

const builtIn = (dir: string, commit: string): void => {
  const archive = join(dir, "sources.tar");
  git("archive", "--output", archive, commit, "functions", "shared", "infra", "package.json", "tsconfig.json");
  execFileSync("tar", ["-xf", archive, "-C", dir]);
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  execFileSync(process.execPath, ["infra/build.ts"], { cwd: dir, stdio: "ignore" });
};

/** Returns the built command line of a commit; undefined where the clone does not have the commit. */
export const commandLineOf = (commit: string): string | undefined => {
  const kept = join(cache, commit);
  const cli = join(kept, "dist", "cli.mjs");
  if (existsSync(cli)) return cli;
  if (!isInClone(commit)) return undefined;
  const dir = mkdtempSync(join(tmpdir(), "rekindle-guard-build-"));
  try {
    builtIn(dir, commit);
    const making = `${kept}.${process.pid}`;
    for (const part of ["dist", "package.json"]) cpSync(join(dir, part), join(making, part), { recursive: true });
    if (existsSync(kept)) rmSync(making, { recursive: true });
    else renameSync(making, kept);
    return cli;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
