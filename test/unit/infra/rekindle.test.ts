/**
 * The `rekindle` command as a package and as a link: it finds its bundle, and tells users of an old Node what to do.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

const root = join(import.meta.dirname, "..", "..", "..");
const published = mkdtempSync(join(tmpdir(), "rekindle-package-"));
const bin = join(published, "infra", "rekindle.mjs");

for (const folder of ["infra", "dist", "links"]) mkdirSync(join(published, folder));
for (const file of ["rekindle.mjs", "door.mjs"])
  copyFileSync(join(root, "infra", file), join(published, "infra", file));
copyFileSync(join(root, "package.json"), join(published, "package.json"));
writeFileSync(join(published, "dist", "cli.mjs"), "console.log(JSON.stringify(process.argv.slice(2)));");
symlinkSync(bin, join(published, "links", "rekindle"));
after(() => rmSync(published, { recursive: true }));

const run = (...args: readonly string[]) => spawnSync(process.execPath, args, { encoding: "utf8" });

/** Returns a preload by which Node reports another version. */
const pretending = (version: string): string =>
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`;

describe("the rekindle command of a clone", () => {
  const clone = mkdtempSync(join(tmpdir(), "rekindle-clone-"));
  const command = join(clone, "infra", "rekindle.mjs");
  const source = join(clone, "shared", "a.ts");
  cpSync(published, clone, { recursive: true });
  for (const folder of ["functions", "shared"]) mkdirSync(join(clone, folder));
  writeFileSync(join(clone, "functions", "cli.ts"), "console.log('the sources', process.argv.length - 2);");
  writeFileSync(source, "");
  after(() => rmSync(clone, { recursive: true }));
  const built = join(clone, "dist", "cli.mjs");
  const files = [source, join(clone, "functions", "cli.ts"), join(clone, "functions"), join(clone, "shared")];

  const rows: readonly (readonly [what: string, builtAt: number | undefined, says: string])[] = [
    ["the bundle while no source is newer", 200, '["list"]\n'],
    ["the sources once one is newer", 50, "the sources 1\n"],
    ["the sources where nothing was built", undefined, "the sources 1\n"],
  ];
  for (const [what, builtAt, says] of rows)
    test(`runs ${what}`, () => {
      for (const file of [...files, join(clone, "package.json")]) utimesSync(file, 100, 100);
      if (builtAt === undefined) rmSync(built);
      else utimesSync(built, builtAt, builtAt);
      const { stdout, stderr } = run(command, "list");
      assert.equal(stdout, says, stderr);
    });
});

describe("the rekindle command of a published package", () => {
  test("is kubectl's plugin, too", () => {
    const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    assert.deepEqual(bin, { "kubectl-rekindle": "infra/rekindle.mjs", rekindle: "infra/rekindle.mjs" });
  });

  test("runs the bundle with its arguments", () => {
    const { status, stdout } = run(bin, "list", "-n", "a");
    assert.equal(status, 0);
    assert.equal(stdout, '["list","-n","a"]\n');
  });

  test("runs through a link, as npm makes them", () => {
    assert.equal(run(join(published, "links", "rekindle"), "--version").stdout, '["--version"]\n');
  });

  for (const version of ["18.20.0", "20.20.2", "22.19.0", "24.1.0"]) {
    test(`on Node ${version} says in one line what it needs`, () => {
      const { status, stdout, stderr } = run("--import", pretending(version), bin, "list");
      assert.equal(status, 1);
      assert.equal(stdout, "");
      assert.equal(stderr, `rekindle: needs Node 24.2 or later (this is ${version})\n`);
    });
  }
});
