/**
 * The bundles of the functions for tests and lanes: built once for a content of their sources, by the first process
 * that needs them, and copied by all others. `npm run build` builds anew each time.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Metafile } from "esbuild";
import { bundled, put } from "../../infra/bundle.ts";
import { fingerprints } from "../../infra/fingerprints.ts";

const root = join(import.meta.dirname, "..", "..");
const cache = join(root, "node_modules", ".cache", "bundles");

/** Everything that the bundles are made of. */
export const sources = ["functions", "shared", "infra/*.ts", "package.json", "package-lock.json"];

/** Returns a name for the content of the files that match these patterns of git. */
export const keyOf = (patterns: readonly string[]): string =>
  createHash("sha256")
    .update(JSON.stringify(fingerprints(root, patterns)))
    .digest("hex");

type Build = { readonly meta: Metafile; readonly paths: readonly string[] };

const ageMs = (path: string): number => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());

/** Age, ms, at which no process copies a build any more. */
const oldMs = 3_600_000;

/** Removes what no process copies any more. */
const clear = (): void => {
  for (const other of globSync(join(cache, "*"))) if (ageMs(other) > oldMs) rmSync(other, { recursive: true });
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
};

/** True for the process that is to build: the lock names it. A lock of a process that has ended is removed. */
const takes = (lock: string): boolean => {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    const owner = existsSync(lock) ? readFileSync(lock, "utf8") : "";
    if (owner !== "" && !isAlive(Number(owner))) rmSync(lock, { force: true });
    return false;
  }
};

/** Returns the folder of this name in the cache; the first process that needs it fills it, and all others wait. */
export const madeOnce = async (name: string, make: (folder: string) => Promise<void>): Promise<string> => {
  const [done, lock] = [join(cache, name), join(cache, `${name}.lock`)];
  mkdirSync(cache, { recursive: true });
  while (!existsSync(done)) {
    if (takes(lock))
      try {
        if (existsSync(done)) continue;
        clear();
        const folder = join(cache, `${name}.${process.pid}`);
        await make(folder);
        renameSync(folder, done);
      } finally {
        rmSync(lock, { force: true });
      }
    else await sleep(50);
  }
  return done;
};

const bundle = async (folder: string): Promise<void> => {
  const { meta, files } = await bundled();
  for (const [path, contents] of files) put(join(folder, path), contents);
  const build: Build = { meta, paths: [...files.keys()] };
  writeFileSync(join(folder, "build.json"), JSON.stringify(build));
};

/** Returns esbuild's account of the bundles in `dist/`; with a folder, puts them there, and the account as `meta.json`. */
export const builtFor = async (folder?: string): Promise<Metafile> => {
  const built = await madeOnce(keyOf(sources), bundle);
  const { meta, paths }: Build = JSON.parse(readFileSync(join(built, "build.json"), "utf8"));
  if (folder === undefined) return meta;
  for (const path of paths) put(resolve(root, folder, path.replace(/^dist./, "")), readFileSync(join(built, path)));
  put(resolve(root, folder, "meta.json"), Buffer.from(JSON.stringify(meta)));
  return meta;
};
