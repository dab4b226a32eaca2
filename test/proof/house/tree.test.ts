/** Places and names of files: the fixed top level, file names, and texts that no tracked file may contain. */
import assert from "node:assert/strict";
import { basename, dirname } from "node:path/posix";
import { describe, test } from "node:test";
import { importsOf, read, sourcesUnder, tracked } from "./sources.ts";

const folders = ["functions", "infra", "shared", "test"];
const files = [
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "biome.json",
  "knip.json",
];
/** Names that say nothing. `service` by itself is allowed: it is a Kubernetes object. */
const vague = /(^|[-.])(utils?|helpers?|common|types?|constants?|manager|base|impl|misc|lib)$|[-.]service$/;

/** A path of one machine, which is wrong on every other. */
const machinePath = /(?<![\w.~}*-])\/(?:work|root|home\/\w+|Users\/\w+)\/\w/;

/** Package registries, in pieces, so that this file does not contain the texts that it forbids. */
const registries = [
  ["registry", "npmjs"],
  ["registry", "yarnpkg"],
  ["pypi", "org"],
  ["files", "pythonhosted"],
  ["proxy", "golang"],
  ["repo1", "maven"],
  ["repo", "maven", "apache"],
].map((parts) => parts.join("."));

const isText = (path: string): boolean => !/\.(png|jpe?g|gif|ico|jar|gz|woff2?)$/.test(path);

describe("tree", () => {
  test("the top level is fixed", () => {
    const tops = new Set(tracked.map((path) => path.split("/")[0] ?? ""));
    const odd = [...tops].filter((top) => !folders.includes(top) && !files.includes(top) && !top.startsWith("."));
    assert.deepEqual(odd, []);
  });

  test("a file is one noun or one verb, lower case", () => {
    const odd = sourcesUnder(...folders).filter((path) => {
      const name =
        path
          .split("/")
          .at(-1)
          ?.replace(/\.test\.ts$|\.tsx?$/, "") ?? "";
      return vague.test(name) || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
    });
    assert.deepEqual(odd, []);
  });

  test("a file does not repeat its folder", () => {
    const odd = sourcesUnder("shared").filter((path) => {
      const [name = "", folder = ""] = path
        .replace(/\.tsx?$/, "")
        .split("/")
        .reverse();
      return name === folder || name.startsWith(`${folder}-`);
    });
    assert.deepEqual(odd, []);
  });

  test("a test stands where its room does", () => {
    const rooms = new Set(sourcesUnder("shared").map((path) => path.split("/")[1]));
    const others = ["host", "functions", "infra"];
    const odd = tracked
      .filter((path) => /^test\/unit\/.*\.test\.ts$/.test(path))
      .map((path) => path.split("/")[2] ?? "")
      .filter((folder) => !rooms.has(folder) && !others.includes(folder));
    assert.deepEqual([...new Set(odd)], []);
  });

  test("a test that has the name of the file that it imports stands in the folder that mirrors that file's", () => {
    const odd = sourcesUnder("test/unit").filter((path) => {
      const name = `/${basename(path, ".test.ts")}.ts`;
      const sameName = importsOf(path).filter(({ to }) => to.startsWith("shared/") && to.endsWith(name));
      const folder = dirname(path).replace("test/unit/", "shared/");
      return sameName.length === 1 && sameName.every(({ to }) => dirname(to) !== folder);
    });
    assert.deepEqual(odd, []);
  });

  test("test/ holds units, proofs, the judge, lanes with real parts, benchmarks and what they share, and nothing else", () => {
    const found = tracked.filter((path) => path.startsWith("test/")).map((path) => path.split("/")[1] ?? "");
    assert.deepEqual([...new Set(found)].toSorted(), [
      "README.md",
      "bench",
      "judge",
      "proof",
      "real",
      "run.ts",
      "support",
      "unit",
    ]);
  });

  test("no tracked file names a path of some machine", () => {
    const odd = tracked
      .filter(isText)
      .flatMap((path) =>
        read(path)
          .split("\n")
          .map((line, at) => ({ line, where: `${path}:${at + 1}` })),
      )
      .filter(({ line }) => machinePath.test(line))
      .map(({ line, where }) => `${where}: ${line.trim().slice(0, 120)}`);
    assert.deepEqual(odd, []);
  });

  test("no tracked file names a package registry", () => {
    const odd = tracked.filter(isText).filter((path) => {
      const text = read(path);
      return registries.some((host) => text.includes(host));
    });
    assert.deepEqual(odd, []);
  });
});
