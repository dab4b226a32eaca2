/**
 * Constructs that code must not use in certain folders (casts, clocks, chance, environment), file lengths, and opening
 * comments.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codeOf, read, sourcesUnder, tracked } from "./sources.ts";

type Rule = {
  readonly name: string;
  readonly folders: readonly string[];
  readonly except?: RegExp;
  readonly forbidden: RegExp;
};

const pure = ["shared/core", "shared/kube", "shared/spark", "shared/volcano", "shared/engine"];
const deciding = ["shared/core", "shared/kube", "shared/spark", "shared/volcano"];

const rules: readonly Rule[] = [
  {
    name: "no cast outside adapters",
    folders: ["shared", "functions"],
    except: /^shared\/adapters\//,
    forbidden: /[\w)\]}"]\s+as\s+(?!const\b)[\w({[<"]/,
  },
  { name: "no any", folders: ["shared", "functions", "infra"], forbidden: /[:<,|&]\s*any\b(?!\s*:)/ },
  { name: "no any by Object(…): fieldsOf", folders: ["shared", "functions", "infra"], forbidden: /\bObject\(/ },
  {
    name: "the environment is read only at the edges",
    folders: ["shared"],
    except: /^shared\/(deployments|adapters|cli)\//,
    forbidden: /process\.env\b/,
  },
  {
    name: "no clock and no chance in the pure rooms",
    folders: pure,
    forbidden: /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bperformance\.now\b|\brandomUUID\b|\brandomBytes\b/,
  },
  {
    name: "no process, console or timer in the pure rooms",
    folders: pure,
    forbidden: /\bprocess\.|\bconsole\.|\bset(Timeout|Interval|Immediate)\(/,
  },
  { name: "deciding never waits", folders: deciding, forbidden: /\bawait\b|\basync\b|\bfetch\(/ },
  {
    name: "the engine names no kind",
    folders: ["shared/engine"],
    forbidden: /\b(SparkApplication|PodGroup|volcano)\b/i,
  },
];

/** Blanks the aliases of imports and exports, which are no casts. */
const withoutAliases = (code: string): string =>
  code.replace(/^(import|export)\s[^;=]*?(from\s*""|\}|\* as \w+)/gm, (text) => text.replace(/[^\n]/g, " "));

const linesWith = (file: string, forbidden: RegExp): readonly string[] =>
  withoutAliases(codeOf(read(file)))
    .split("\n")
    .filter((line) => forbidden.test(line))
    .map((line) => `${file}: ${line.trim()}`);

describe("code", () => {
  for (const { name, folders, except, forbidden } of rules) {
    test(name, () => {
      const files = sourcesUnder(...folders).filter((file) => except === undefined || !except.test(file));
      assert.deepEqual(
        files.flatMap((file) => linesWith(file, forbidden)),
        [],
      );
    });
  }

  const limits = [
    { folders: ["functions", "infra", "shared"], lines: 400 },
    { folders: ["test"], lines: 400 },
  ];
  for (const { folders, lines } of limits) {
    test(`files of ${folders.join(", ")} have at most ${lines} lines`, () => {
      const long = sourcesUnder(...folders)
        .map((file) => ({ file, lines: read(file).trimEnd().split("\n").length }))
        .filter((found) => found.lines > lines);
      assert.deepEqual(long, []);
    });
  }

  test("every file opens with what it is for", () => {
    const silent = sourcesUnder("functions", "infra", "shared", "test").filter((file) => !read(file).startsWith("/**"));
    assert.deepEqual(silent, []);
  });

  test("a comment names only files that exist", () => {
    const comment = /^\s*(?:\/\*\*|\*|\/\/).*/gm;
    const file = /(?<![\w./-])[a-z][\w-]*(?:\/[\w.-]+)+\.ts\b/g;
    const missing = (text: string): readonly string[] =>
      [...text.matchAll(comment)]
        .flatMap(([line]) => [...line.matchAll(file)])
        .map(([path]) => path)
        .filter((path) => !tracked.some((one) => one === path || one.endsWith(`/${path}`)));
    assert.deepEqual(missing("/** See engine/nothing.ts and proof/house/sources.ts. */"), ["engine/nothing.ts"]);
    const found = sourcesUnder("functions", "infra", "shared", "test").flatMap((source) =>
      missing(read(source)).map((path) => `${source}: ${path}`),
    );
    assert.deepEqual(found, []);
  });

  test("nothing is left for later in a comment", () => {
    const word = new RegExp(
      `\\b(${["TO", "FIX", "XX"].map((start, at) => start + ["DO", "ME", "X"][at]).join("|")})\\b`,
    );
    const later = sourcesUnder("functions", "infra", "shared", "test").filter((file) => word.test(read(file)));
    assert.deepEqual(later, []);
  });
});
