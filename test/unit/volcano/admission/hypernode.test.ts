/** Admission of HyperNodes: upstream's refusals in its words, and no others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { creating, said, updating } from "./reviews.ts";

const exact = (name: unknown) => ({ type: "Node", selector: { exactMatch: { name } } });
const regex = (pattern: unknown) => ({ type: "HyperNode", selector: { regexMatch: { pattern } } });

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ["no members", { members: [] }, /^member must have at least one member$/],
  ["another type", { members: [{ ...exact("a"), type: "Rack" }] }, /members\[0\]\.type: unknown member type Rack$/],
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
    "a name that is none",
    { members: [exact("a b")] },
    /member exactMatch validate failed \[name part must consist of alphanumeric characters/,
  ],
  ["no pattern", { members: [regex("")] }, /member regexMatch pattern is required/],
  ["a pattern that is none", { members: [exact("a"), regex("a(")] }, /members\[1\].*pattern is invalid: /],
  ["a pattern that looks ahead", { members: [regex("a(?=b)")] }, /invalid or unsupported Perl syntax: `\(\?=`/],
  ["a list that is none", { members: "a" }, /members/],
];

describe("a HyperNode is refused that has", () => {
  for (const [what, spec, says] of wrong)
    test(what, () => {
      assert.match(said(creating("HyperNode", spec)), says);
      assert.match(said(updating("HyperNode", { members: [exact("a")] }, spec)), says);
    });
});

describe("a HyperNode is taken that chooses by", () => {
  const good = ["^node-[0-9]+$", "(?i)rack", "(?P<row>r)\\d", "[[:alpha:]]+", "(?s:a.b)", "\\\\1"];
  for (const pattern of good)
    test(`pattern ${pattern}`, () => assert.equal(said(creating("HyperNode", { members: [regex(pattern)] })), ""));
  test("name", () => assert.equal(said(creating("HyperNode", { members: [exact("node_1.a")] })), ""));
  test("labels", () => {
    const labelMatch = { matchLabels: { rack: "a" } };
    assert.equal(said(creating("HyperNode", { members: [{ type: "Node", selector: { labelMatch } }] })), "");
  });
});
