/**
 * Each mutant finds the one place that it edits, also after a refactoring, and the tests that must see the mutant exist: these
 * tests fail after an edit that moves text or tests, before the long lane does.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { mutants } from "../mutants/all.ts";
import { placeOf } from "../mutants/anchors.ts";
import { tryRefactorings } from "../mutants/refactorings.ts";
import { sourcesOf } from "../mutants/sources.ts";
import { sourcesUnder } from "./sources.ts";

const sources = sourcesOf(join(import.meta.dirname, "..", "..", ".."));

test("each mutant finds what it replaces, once", () => {
  const lost = mutants.flatMap((mutant) => {
    const place = placeOf(mutant, sources);
    return "failure" in place ? [`${mutant.name}: ${place.failure}`] : [];
  });
  assert.deepEqual(lost, []);
});

test("the rename of a function and the move of its file break no mutant", () => {
  // `npm run mutants -- --refactorings` tries all files.
  const files = [...new Set(mutants.map(({ file }) => file))].filter((_, at) => at % 12 === 0);
  const { tried, broken } = tryRefactorings(
    mutants.filter(({ file }) => files.includes(file)),
    sources,
  );
  assert.ok(tried > 100, `${tried}`);
  assert.deepEqual(broken, []);
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
