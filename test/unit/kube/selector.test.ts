/** Label selectors in kubectl's syntax, against sets of labels. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { expressionsOf, selectorOf } from "../../../shared/kube/selector.ts";

const sets = {
  none: {},
  prod: { env: "prod", "app.example/team": "a" },
  test: { env: "test" },
  empty: { env: "" },
} as const;

const selected = (text: string): readonly string[] | undefined => {
  const selects = selectorOf(text);
  return selects === undefined
    ? undefined
    : Object.entries(sets).flatMap(([name, labels]) => (selects(labels) ? [name] : []));
};

describe("a selector", () => {
  const all = ["none", "prod", "test", "empty"];
  const cases = [
    { text: "", want: all },
    { text: " , ", want: all },
    { text: "env=prod", want: ["prod"] },
    { text: "env==prod", want: ["prod"] },
    { text: " env = prod ", want: ["prod"] },
    { text: "env=", want: ["empty"] },
    { text: "env!=prod", want: ["none", "test", "empty"] },
    { text: "env in (prod, test)", want: ["prod", "test"] },
    { text: "env in (prod)", want: ["prod"] },
    { text: "env notin (prod,test)", want: ["none", "empty"] },
    { text: "env", want: ["prod", "test", "empty"] },
    { text: "!env", want: ["none"] },
    { text: "! env", want: ["none"] },
    { text: "app.example/team=a", want: ["prod"] },
    { text: "env in (prod,test),app.example/team", want: ["prod"] },
    { text: "env,env!=prod,env notin (test)", want: ["empty"] },
    { text: "constructor", want: [] },
    { text: "in", want: [] },
  ];
  for (const { text, want } of cases) test(JSON.stringify(text), () => assert.deepEqual(selected(text), want));

  const wrong = [
    "env prod",
    "env in prod",
    "env in (prod",
    "env in prod)",
    "=prod",
    "!",
    "env=prod test",
    "env=(a)",

    "()",
    "env in",
    "a=b=c",
    "!env=prod",
  ];
  for (const text of wrong) test(`${JSON.stringify(text)} is none`, () => assert.equal(selected(text), undefined));

  test("of whatever text does not throw", () => {
    fc.assert(fc.property(fc.string(), (text) => selected(text) === undefined || true));
  });
});

test("a selector's requirements, as the API writes them", () => {
  assert.deepEqual(expressionsOf("env in (prod, test),app!=x,team=a,spark,!legacy,zone notin (a)"), [
    { key: "env", operator: "In", values: ["prod", "test"] },
    { key: "app", operator: "NotIn", values: ["x"] },
    { key: "team", operator: "In", values: ["a"] },
    { key: "spark", operator: "Exists" },
    { key: "legacy", operator: "DoesNotExist" },
    { key: "zone", operator: "NotIn", values: ["a"] },
  ]);
});
