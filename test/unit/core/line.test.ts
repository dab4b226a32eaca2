/** Texts of several lines in one line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { oneLine, visible } from "../../../shared/core/text.ts";

for (const [text, want] of [
  ["", ""],
  ["a", "a"],
  ["a\nb", "a b"],
  ["  a \r\n\n\t b\n", "a b"],
] as const)
  test(`${JSON.stringify(text)} in one line`, () => assert.equal(oneLine(text), want));

for (const [text, want] of [
  ["\u001b[2J\u001b]0;owned\u0007", "\\u001b[2J\\u001b]0;owned\\u0007"],
  ["a\r\u0008b\u0000", "a\\u000d\\u0008b\\u0000"],
  ["\u009b2J\u202egpj.exe\u2066", "\\u009b2J\\u202egpj.exe\\u2066"],
  ["two\nlines,\ta tab, \u00fcber", "two\nlines,\ta tab, \u00fcber"],
] as const)
  test(`${JSON.stringify(text)} steers no terminal`, () => {
    assert.equal(visible(text), want);
    assert.equal(JSON.parse(visible(JSON.stringify(text))), text, "what is JSON means the same");
  });
