/**
 * The text that a mutant replaces occurs in its file exactly once, and the tests that must see the mutant exist: these
 * tests fail after an edit that moves text or tests, before the long lane does.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mutants } from "../mutants/all.ts";
import { sourcesUnder } from "./sources.ts";

const root = join(import.meta.dirname, "..", "..", "..");

const timesIn = (file: string, text: string): number => {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, "utf8").split(text).length - 1 : 0;
};

test("each mutant replaces what stands once in its file", () => {
  const lost = mutants.filter(({ file, find }) => timesIn(file, find) !== 1);
  assert.deepEqual(
    lost.map(({ name, file }) => `${name}: ${file}`),
    [],
  );
});

test("the tests that each mutant names exist", () => {
  const files = sourcesUnder("test");
  const lost = mutants.flatMap((mutant) =>
    ("tests" in mutant ? mutant.tests : [])
      .filter((part) => !files.some((file) => file.includes(part)))
      .map((part) => `${mutant.name}: ${part}`),
  );
  assert.deepEqual(lost, []);
});

test("no two mutants have one name", () => {
  const names = mutants.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
});
