#!/usr/bin/env node
// The `rekindle` command: in a clone it runs the sources through the door, in a published package the bundle.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { enter, refusalOf } from "./door.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join("functions", "cli.ts");

if (existsSync(join(root, source))) {
  enter(source, process.argv.slice(2));
} else if (refusalOf(process.versions.node) === undefined) {
  await import("../dist/cli.mjs");
} else {
  console.error(refusalOf(process.versions.node));
  process.exitCode = 1;
}
