/** Expressions of HyperNodes beside JavaScript's own matcher, and those that are refused or too costly. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { patternOf } from "../../../../../shared/volcano/gang/topology/pattern.ts";

const names = ["node-a1", "node-b123", "node-c1", "rack-10", "s1.xx", "aaab", "aaaa", "n1", "n12", "n", "", "ababc"];
const others = ["12-x", "x", "aaaaa", "b", "node-7f", "]", "-", "NODE", "a-z", "é"];

/** Expressions as Go writes them, and as JavaScript does where that differs. */
const rows: readonly (readonly [string, RegExp?])[] = [
  ...["^node-(a|b)[0-9]{1,3}$", "rack-1", "s[0-3]\\.x+", "(a*)*b", "n(?:1|2)?$", "^$", "", "a{2,}"].map(
    (text): readonly [string] => [text],
  ),
  ...["[^a-c]+z", "\\d+-\\w*", "x{0}", "^(node|n)-?[a-f\\d]+$", "a|", "a??b", "[a-]", "^[\\w.-]+$", "\\D\\S"].map(
    (text): readonly [string] => [text],
  ),
  ["(?P<x>ab)+c", /(?<x>ab)+c/],
  ["[[:digit:]]", /\d/],
  ["[[:^alpha:]]", /[^a-zA-Z]/],
  ["a{2}{2}", /(?:a{2}){2}/],
  ["(?i)node", /node/i],
  ["[]a]", /[\]a]/],
  ["\\Aab|1\\z", /^ab|1$/],
  ["\\x2d|\\x{7a}", /-|z/],
  ["a{,2}", /a\{,2\}/],
];

const matches = (text: string, name: string, left = 1_000_000): boolean | undefined | string => {
  const pattern = patternOf(text);
  return pattern.wrong ?? pattern.matches?.(name, { left });
};

describe("an expression", () => {
  for (const [text, same = new RegExp(text)] of rows)
    test(`${text} finds what JavaScript finds`, () => {
      for (const name of [...names, ...others]) assert.equal(matches(text, name), same.test(name), name);
    });

  const wrong: readonly (readonly [string, string])[] = [
    ["(a", "a parenthesis is not closed"],
    ["a)", "a parenthesis is not opened"],
    ["[a", "a bracket is not closed"],
    ["*a", "nothing stands before *"],
    ["a{1001}", "{1001} is not a valid repetition"],
    ["a{3,2}", "{3,2} is not a valid repetition"],
    ["(?=a)", "flags and assertions of groups are not supported"],
    ["\\b", "\\b is not supported"],
    ["[z-a]", "a range of letters is the wrong way round"],
    ["[[:nothing:]]", "the class [:nothing:] is not supported"],
    ["((a{100}){100}){100}", "its repetitions are too large"],
    ["(".repeat(60), "its groups are nested too deep"],
    ["a".repeat(2_000), "it is longer than 1024 characters"],
  ];
  for (const [text, why] of wrong) test(`${text.slice(0, 30)} is refused`, () => assert.equal(matches(text, "a"), why));

  test("that would take other matchers for ever is matched by the size of expression and text", () => {
    assert.equal(matches("^(a|aa)*$", `${"a".repeat(252)}b`, 20_000), false);
    assert.equal(matches("^(((()*)*)*)*a$", "b", 20_000), false);
  });

  test("of empty groups, repeated without end, is read at once", () =>
    assert.equal(matches(`${"(".repeat(40)}${"){1000}".repeat(40)}x`, "x"), true));

  test("ends without an answer when its budget is used up", () =>
    assert.equal(matches("^(a|aa)*$", "aaaa", 5), undefined));
});
