/**
 * The oldest Node that Rekindle supports: package.json names it, every other place repeats it, and every entry point
 * refuses an older one.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { floor, functionNames } from "../../../infra/bundle.ts";
import { builtFor } from "../../support/build.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const major = floor.split(".")[0] ?? "";

describe("the floor", () => {
  test("is the oldest Node that tells a module whether it was started: functions started as processes ask it", () => {
    assert.equal(floor, "24.2");
    assert.match(read("functions/forward.ts"), /import\.meta\.main/);
  });

  const places = [
    { file: ".nvmrc", says: new RegExp(`^${major}\n$`) },
    { file: "package-lock.json", says: new RegExp(`"node": ">=${floor}"`) },
    { file: "package.json", says: new RegExp(`"node": "\\^${major}\\.`) },
    { file: "package.json", says: new RegExp(`"@types/node": "\\^${major}\\.`) },
    { file: "infra/Containerfile", says: new RegExp(`node:${major}-slim`) },
    { file: "infra/aws/template.yaml", says: new RegExp(`Runtime: nodejs${major}\\.x`) },
    { file: "README.md", says: new RegExp(`Node ${floor}`) },
    { file: "infra/docs/guides/eks.md", says: new RegExp(`Node ${major} on arm64`) },
  ];
  for (const { file, says } of places)
    test(`${file} says ${says.source}`, () => {
      assert.match(read(file), says);
    });

  test("is held by the base of the image, which stands in one place and can be named by its digest", () => {
    const lines = read("infra/Containerfile").split("\n");
    const bases = lines.filter((line) => line.startsWith("FROM "));
    assert.deepEqual(new Set(bases.map((line) => line.split(" ")[1])), new Set([`$\{NODE_IMAGE}`]));
    assert.ok(lines.includes(`ARG NODE_IMAGE=docker.io/library/node:${major}-slim`));
    assert.ok(lines.includes("RUN node dist/cli.mjs --version"), "a base that is too old ends the build");
    assert.match(read("infra/docs/guides/install.md"), /--build-arg NODE_IMAGE=\S+@sha256:/);
  });

  test("is the only version that a Containerfile, a template or a page asks for", () => {
    const pages = [
      "README.md",
      "infra/docs/guides/eks.md",
      "infra/docs/guides/install.md",
      "infra/Containerfile",
      "infra/aws/template.yaml",
      "functions/README.md",
    ];
    const asked = pages.flatMap((file) =>
      [...read(file).matchAll(/\bNode (\d+)|node:(\d+)|nodejs(\d+)/g)].map(([, a, b, c]) => `${file}: ${a ?? b ?? c}`),
    );
    assert.deepEqual(
      asked.filter((one) => !one.endsWith(`: ${major}`)),
      [],
    );
  });
});

/** Returns a preload by which Node reports another version. */
const pretending = (version: string): string =>
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`;

const run = (version: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, ["--import", pretending(version), ...args], { encoding: "utf8", cwd: tmpdir() });

describe("a bundle under another Node", () => {
  let home = "";
  let folder = "";
  before(async () => {
    home = mkdtempSync(join(tmpdir(), "rekindle-floor-"));
    copyFileSync(join(root, "package.json"), join(home, "package.json"));
    folder = join(home, "dist");
    await builtFor(folder);
  });
  after(() => rmSync(home, { recursive: true }));

  for (const name of functionNames())
    test(`${name} refuses an older one in one sentence, before anything else`, () => {
      const { status, stdout, stderr } = run("20.20.2", join(folder, `${name}.mjs`), "host");
      assert.deepEqual([status, stdout], [1, ""]);
      assert.equal(stderr, "rekindle: needs Node 24.2 or later (this is 20.20.2)\n");
    });

  test("takes the floor itself, and later ones", () => {
    for (const version of ["24.2.0", "24.10.0", "25.0.0", "100.1.0"])
      assert.equal(run(version, join(folder, "cli.mjs"), "help").stderr, "", version);
  });

  test("is the code that an older Node can read as far as the refusal: no file takes a name from Node that Node 20 lacks at once", () => {
    // Names that Node 20 lacks: an import of one fails before the first line runs.
    const later =
      /\b(globSync|glob|enableCompileCache|getCallSites?|DatabaseSync|stripTypeScriptTypes|registerHooks)\b/;
    const odd = [folder, join(folder, "chunks")].flatMap((place) =>
      readdirSync(place)
        .filter((file) => file.endsWith(".mjs"))
        .flatMap((file) => [...readFileSync(join(place, file), "utf8").matchAll(/import\{([^}]*)\}from"node:/g)])
        .filter(([, names = ""]) => later.test(names))
        .map(([line]) => line),
    );
    assert.deepEqual(odd, []);
  });
});
