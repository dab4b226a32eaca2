#!/usr/bin/env node
// The `rekindle` command: in a clone it runs the sources through the door, in a published package the bundle.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const source = join("functions", "cli.ts");

if (existsSync(join(root, source))) {
  const { enter } = await import("./door.mjs");
  enter(source, process.argv.slice(2));
} else if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`rekindle: needs Node 22.19 or later (this is ${process.versions.node})`);
  process.exitCode = 1;
} else {
  await import("../dist/cli.mjs");
}
