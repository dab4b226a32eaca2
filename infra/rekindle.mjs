#!/usr/bin/env node
// The `rekindle` command, also as `kubectl rekindle`: a published package runs its bundle; a clone runs its bundle while no
// source is newer, because the sources take a second longer to load, else the sources.
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { enter, refusalOf } from "./door.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join("functions", "cli.ts");
const bundle = join("dist", "cli.mjs");
const args = process.argv.slice(2);

/** True if the bundle was built after the last change of a source. */
const isBuilt = () => {
  if (!existsSync(join(root, bundle))) return false;
  const builtAt = statSync(join(root, bundle)).mtimeMs;
  const files = ["functions", "shared"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)),
  );
  return ["package.json", "package-lock.json", ...files]
    .filter((path) => existsSync(join(root, path)))
    .every((path) => statSync(join(root, path)).mtimeMs <= builtAt);
};

const isClone = existsSync(join(root, source));
const refusal = refusalOf(process.versions.node);

if (isClone && !isBuilt()) {
  enter(source, args);
} else if (refusal === undefined) {
  await import("../dist/cli.mjs");
} else if (isClone) {
  enter(bundle, args);
} else {
  console.error(refusal);
  process.exitCode = 1;
}
