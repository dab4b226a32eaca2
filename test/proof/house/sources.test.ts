/** The scanner that other house tests read sources with. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf } from "./sources.ts";

const cases: readonly (readonly [string, string])[] = [
  ["a /* as b */ + 1 // as c", "a   + 1"],
  ["f(\"x as y\", 'as z')", 'f("", "")'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the hole is what is looked at
  ["`as ${f(a as B)} as`", '(f(a as B))  ""'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the hole is what is looked at
  ["`${ { a: `${b}` } }` as C", '( { a:  (b)  ""  } )  ""  as C'],
  ['x = /"as `/g; y as Z', "x = /-/; y as Z"],
  ["a / b / c as D", "a / b / c as D"],
];

for (const [text, code] of cases) {
  test(`of ${text} the code is ${code}`, () => assert.equal(codeOf(text).trim(), code));
}
