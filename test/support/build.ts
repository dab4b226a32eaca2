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

const keyOf = (): string => {
  const sources = fingerprints(root, ["functions", "shared", "infra/*.ts", "package.json", "package-lock.json"]);
  return createHash("sha256").update(JSON.stringify(sources)).digest("hex");
};

type Build = { readonly meta: Metafile; readonly paths: readonly string[] };

const ageMs = (path: string): number => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());

/** Age, ms, at which no process copies a build any more. */
const oldMs = 3_600_000;

const make = async (key: string): Promise<void> => {
  for (const other of globSync(join(cache, "*"))) if (ageMs(other) > oldMs) rmSync(other, { recursive: true });
  const { meta, files } = await bundled();
  const folder = join(cache, `${key}.${process.pid}`);
  for (const [path, contents] of files) put(join(folder, path), contents);
  const build: Build = { meta, paths: [...files.keys()] };
  writeFileSync(join(folder, "build.json"), JSON.stringify(build));
  renameSync(folder, join(cache, key));
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

const openBuild = async (key: string): Promise<Build> => {
  const [done, lock] = [join(cache, key, "build.json"), join(cache, `${key}.lock`)];
  mkdirSync(cache, { recursive: true });
  while (!existsSync(done)) {
    if (takes(lock))
      try {
        if (!existsSync(done)) await make(key);
      } finally {
        rmSync(lock, { force: true });
      }
    else await sleep(50);
  }
  return JSON.parse(readFileSync(done, "utf8"));
};

/** Returns esbuild's account of the bundles in `dist/`; with a folder, puts them there, and the account as `meta.json`. */
export const builtFor = async (folder?: string): Promise<Metafile> => {
  const key = keyOf();
  const { meta, paths } = await openBuild(key);
  if (folder === undefined) return meta;
  for (const path of paths)
    put(resolve(root, folder, path.replace(/^dist./, "")), readFileSync(join(cache, key, path)));
  put(resolve(root, folder, "meta.json"), Buffer.from(JSON.stringify(meta)));
  return meta;
};
