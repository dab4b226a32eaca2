/**
 * The package of `npm pack`, installed without a network into a folder that has only the manifest of the example of one's
 * own kind: no dependency, no source, no file of this clone.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { npm, openTarball } from "../../support/packed.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const empty = mkdtempSync(join(tmpdir(), "rekindle-published-"));
const home = join(empty, "node_modules", "rekindle");

const manifest = z.object({
  dependencies: z.unknown().optional(),
  peerDependencies: z.record(z.string(), z.string()),
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean() })),
});

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(home, "infra", "rekindle.mjs"), ...args], {
    cwd: empty,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: empty },
  });

let files: readonly string[] = [];

before(async () => {
  const made = await openTarball();
  files = made.files;
  cpSync(join(root, "infra", "examples", "own-kind", "package.json"), join(empty, "package.json"));
  npm(empty, "install", "--offline", "--omit=dev", "--no-audit", "--no-fund", made.tarball);
});
after(() => rmSync(empty, { recursive: true }));

describe("the published package, alone", () => {
  it("holds what is run and read, and nothing that is only of a clone", () => {
    for (const path of ["package.json", "README.md", "CHANGELOG.md", "LICENSE", "infra/rekindle.mjs"])
      assert.ok(files.includes(path), `${path} is not published`);
    assert.deepEqual(
      files.filter((path) =>
        /^(shared|test|functions)\/.*(?<!\.(md|svg|png))$|^(?!infra\/examples\/).*(?<!\.d)\.ts$|^dist\/meta\.json$/.test(
          path,
        ),
      ),
      [],
    );
  });

  it("has a README whose links lead to files of the package", () => {
    const text = readFileSync(join(home, "README.md"), "utf8");
    const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, to = ""]) => to.replace(/\/$/, ""));
    assert.ok(links.length > 30);
    assert.deepEqual(
      links.filter((to) => !files.some((path) => path === to || path.startsWith(`${to}/`))),
      [],
    );
  });

  it("brings no other package with it", () => {
    const installed = readdirSync(join(empty, "node_modules")).filter((name) => !name.startsWith("."));
    assert.deepEqual(installed, ["rekindle"]);
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifest.parse(
      JSON.parse(readFileSync(join(home, "package.json"), "utf8")),
    );
    assert.equal(dependencies, undefined);
    const optional = Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name]?.optional);
    assert.deepEqual(optional, Object.keys(peerDependencies));
    for (const name of ["@aws-sdk/client-s3", "@google-cloud/storage"]) assert.ok(optional.includes(name), name);
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

/** A controller of ConfigMaps as `library.md` shows it, for both languages. */
const page = readFileSync(join(root, "infra", "docs", "reference", "library.md"), "utf8");
const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];

describe("the exports of the published package", () => {
  it("run the example of their page: a controller of its own on the simulator", () => {
    writeFileSync(join(empty, "example.ts"), example);
    const { stdout, stderr } = spawnSync(process.execPath, ["example.ts"], { cwd: empty, encoding: "utf8" });
    assert.equal(stdout, "step\nhello, world\n", stderr);
  });

  it("have types that a strict program with Node's types, and none of a browser, compiles against", () => {
    const settings = [
      "--strict",
      "--noEmit",
      "--target",
      "es2024",
      "--lib",
      "es2024",
      "--module",
      "nodenext",
      "--allowImportingTsExtensions",
    ];
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    writeFileSync(join(empty, "example.ts"), example);
    writeFileSync(join(empty, "wrong.ts"), 'import { step } from "rekindle/engine";\nstep("key");\n');
    const files = ["example.ts", "wrong.ts"];
    const { stdout } = spawnSync(process.execPath, [tsc, ...settings, ...types, ...files], {
      cwd: empty,
      encoding: "utf8",
    });
    assert.match(stdout, /^wrong\.ts\(2,1\): error TS2554.*\n$/, "one error, in the wrong file");
  });

  it("are those of the manifest, each a file that is there, and nothing else can be imported", () => {
    for (const path of ["engine", "simulator", "sweep"].map((name) => `dist/lib/${name}.mjs`))
      assert.ok(files.includes(path), path);
    const declared = globSync("dist/types/**/*.d.ts", { cwd: home });
    assert.ok(declared.length > 20, `${declared.length} declarations`);
    const inner = 'await import("rekindle/dist/cli.mjs")';
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", inner], {
      cwd: empty,
      encoding: "utf8",
    });
    assert.match(stderr, /ERR_PACKAGE_PATH_NOT_EXPORTED/);
  });
});
