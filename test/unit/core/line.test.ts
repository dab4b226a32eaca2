/** Texts of several lines, told in one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { oneLine } from "../../../shared/core/line.ts";

for (const [text, want] of [
  ["", ""],
  ["a", "a"],
  ["a\nb", "a b"],
  ["  a \r\n\n\t b\n", "a b"],
] as const)
  test(`${JSON.stringify(text)} in one line`, () => assert.equal(oneLine(text), want));
