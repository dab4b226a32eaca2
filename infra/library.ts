/** The package's exports beside its command: `rekindle/engine`, `rekindle/simulator` and `rekindle/sweep`, with types. */
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { bundleOptions } from "./bundle.ts";

const root = join(import.meta.dirname, "..");

/** Names of the export paths; each has its source in `shared/deployments/library/`. */
export const libraries = ["engine", "simulator", "sweep"] as const;

const sourceOf = (name: string): string => `shared/deployments/library/${name}.ts`;

/** Writes `lib/` into the folder; what several share is a chunk. Names stay readable, for users meet them in their traces. */
const bundleLibraries = async (folder: string): Promise<void> => {
  const entryPoints = Object.fromEntries(libraries.map((name) => [`lib/${name}`, sourceOf(name)]));
  const options = bundleOptions([], folder);
  const chunkNames = "lib/chunks/[name]-[hash]";
  await build({ ...options, entryPoints, chunkNames, minify: false, metafile: false });
};

/** The declarations that these reach by their imports; a module that only bodies use, such as a framework, is none. */
const reached = (entries: readonly string[]): ReadonlySet<string> => {
  const found = new Set(entries);
  for (const file of found)
    for (const [, to = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.ts"/g))
      found.add(join(dirname(file), `${to}.d.ts`));
  return found;
};

/** Writes `types/` into the folder: declarations of the sources that the export paths reach. */
const declare = (folder: string): void => {
  const types = join(folder, "types");
  rmSync(types, { recursive: true, force: true });
  mkdirSync(types, { recursive: true });
  const config = join(types, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm run check` checks the sources; a build would check all of them a second time.
    noCheck: true,
    outDir: ".",
    rootDir: relative(types, root),
    typeRoots: [relative(types, join(root, "node_modules", "@types"))],
  };
  const files = libraries.map((name) => relative(types, join(root, sourceOf(name))));
  const own = { extends: relative(types, join(root, "tsconfig.json")), compilerOptions, include: [], files };
  writeFileSync(config, JSON.stringify(own));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", config], { encoding: "utf8" });
  rmSync(config);
  if (status !== 0) throw new Error(`no declarations of ${libraries.join(" and ")}: ${stdout}`);
  const kept = reached(libraries.map((name) => join(types, sourceOf(name).replace(/\.ts$/, ".d.ts"))));
  for (const file of globSync("**/*.d.ts", { cwd: types })) if (!kept.has(join(types, file))) rmSync(join(types, file));
};

/** Builds all of them into a folder, such as `dist`. */
export const buildLibraries = async (folder: string): Promise<void> => {
  await bundleLibraries(folder);
  declare(folder);
};
