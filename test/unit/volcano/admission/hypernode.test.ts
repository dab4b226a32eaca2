/** Admission of HyperNodes: upstream's refusals in its words, and no others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { creating, said, updating } from "./reviews.ts";

const exact = (name: unknown) => ({ type: "Node", selector: { exactMatch: { name } } });
const regex = (pattern: unknown) => ({ type: "HyperNode", selector: { regexMatch: { pattern } } });

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ["no members", { members: [] }, /^member must have at least one member$/],
  [
    "an unknown member type",
    { members: [{ ...exact("a"), type: "Rack" }] },
    /members\[0\]\.type: unknown member type Rack$/,
  ],
  [
    "no selector",
    { members: [{ type: "Node", selector: {} }] },
    /must have one of exactMatch, regexMatch, or labelMatch/,
  ],
  [
    "two selectors",
    { members: [{ type: "Node", selector: { exactMatch: { name: "a" }, labelMatch: {} } }] },
    /cannot specify more than one selector type \(exactMatch, regexMatch, labelMatch\)/,
  ],
  ["no name", { members: [exact("")] }, /selector\.exactMatch\.name: member exactMatch name is required/],
  [
    "an invalid name",
    { members: [exact("a b")] },
    /member exactMatch validate failed \[name part must consist of alphanumeric characters/,
  ],
  ["no pattern", { members: [regex("")] }, /member regexMatch pattern is required/],
  ["an invalid pattern", { members: [exact("a"), regex("a(")] }, /members\[1\].*pattern is invalid: /],
  ["a pattern with a lookahead", { members: [regex("a(?=b)")] }, /invalid or unsupported Perl syntax: `\(\?=`/],
  ["a text in place of the list of members", { members: "a" }, /members/],
];

describe("admission refuses a HyperNode with", () => {
  for (const [what, spec, says] of wrong)
    test(what, () => {
      assert.match(said(creating("HyperNode", spec)), says);
      assert.match(said(updating("HyperNode", { members: [exact("a")] }, spec)), says);
    });
});

describe("admission accepts a HyperNode whose members are chosen by", () => {
  const good = ["^node-[0-9]+$", "(?i)rack", "(?P<row>r)\\d", "[[:alpha:]]+", "(?s:a.b)", "\\\\1"];
  for (const pattern of good)
    test(`pattern ${pattern}`, () => assert.equal(said(creating("HyperNode", { members: [regex(pattern)] })), ""));
  test("name", () => assert.equal(said(creating("HyperNode", { members: [exact("node_1.a")] })), ""));
  test("labels", () => {
    const labelMatch = { matchLabels: { rack: "a" } };
    assert.equal(said(creating("HyperNode", { members: [{ type: "Node", selector: { labelMatch } }] })), "");
  });
});
