/** Hints for misspelt names: near names, the nearest first, and none for an unrelated word. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nearTo } from "../../../shared/core/text.ts";

describe("names near to a misspelt one", () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["resinc", ["resync", "region"], ["resync"]],
    ["sparkaplication", ["SparkApplication", "ScheduledSparkApplication"], ["SparkApplication"]],
    ["paii", ["pi", "pair", "pail"], ["pail", "pair"]],
    ["pari", ["pair", "page"], ["pair"]],
    ["ssh", ["svc", "env"], []],
    ["no-root", ["ssh-port"], []],
    ["x".repeat(254), ["x".repeat(253)], []],
  ];
  for (const [unknown, known, near] of rows)
    test(`${unknown.slice(0, 20)}: ${near.join(", ") || "none"}`, () => assert.deepEqual(nearTo(unknown, known), near));
});
