/** What `npm pack` publishes, alone in an empty folder: no dependency, no source, nothing of this clone beside it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { bundle } from "../../../infra/bundle.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const empty = mkdtempSync(join(tmpdir(), "rekindle-published-"));
const home = join(empty, "node_modules", "rekindle");

const packed = z.tuple([z.object({ files: z.array(z.object({ path: z.string() })) })]);

/** What npm would take, as it says itself. */
const listed = (): readonly string[] => {
  const { stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  assert.notEqual(stdout, "", stderr);
  const [{ files }] = packed.parse(JSON.parse(stdout));
  return files.map(({ path }) => path);
};

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(home, "infra", "rekindle.mjs"), ...args], {
    cwd: empty,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: empty },
  });

let files: readonly string[] = [];

before(async () => {
  files = listed().filter((path) => !path.startsWith("dist/"));
  for (const path of files) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    cpSync(join(root, path), join(home, path));
  }
  await bundle(true, undefined, join(home, "dist"));
});
after(() => rmSync(empty, { recursive: true }));

describe("the published package, alone", () => {
  it("holds what is run and read, and nothing that is only of a clone", () => {
    for (const path of ["package.json", "README.md", "CHANGELOG.md", "LICENSE", "infra/rekindle.mjs"])
      assert.ok(files.includes(path), `${path} is not published`);
    assert.deepEqual(
      files.filter((path) => /^(shared|test|functions)\/|\.ts$|^dist\/meta\.json$/.test(path)),
      [],
    );
  });

  it("says the version that the changelog begins with", () => {
    const { stdout, status } = run("--version");
    const [, newest = ""] = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync(join(home, "CHANGELOG.md"), "utf8")) ?? [];
    assert.deepEqual([status, stdout.trim()], [0, newest]);
  });

  it("prints an installation with its definitions, and what a run would create", () => {
    const manifests = run("manifests");
    assert.match(manifests.stdout, /^kind: CustomResourceDefinition$/m, manifests.stderr);
    const rendered = run("render", "-f", join(home, "infra", "examples", "spark-pi.yaml"));
    assert.match(rendered.stdout, /^kind: Pod$/m, rendered.stderr);
  });

  it("plays its demo to a good end", () => {
    const story = join(empty, "story.json");
    writeFileSync(story, "");
    const { status, stderr } = run("demo", "--json", story);
    assert.equal(status, 0, stderr);
    assert.ok(readFileSync(story, "utf8").length > 1_000);
  });
});
