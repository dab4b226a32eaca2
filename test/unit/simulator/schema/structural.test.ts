/** Structural schemas: pruning, defaults and refusals. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { defaulted, faults, pruneRoot } from "../../../../shared/simulator/schema/structural.ts";

const text = { type: "string" };
const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const pruned = [
  ["unknown fields go", { a: text }, { a: "1", b: 2 }, { a: "1" }, ["spec.b"]],
  ["all of an object without properties goes", {}, { a: 1 }, {}, ["spec.a"]],
  [
    "maps keep their keys",
    { m: { type: "object", additionalProperties: text } },
    { m: { x: "1" } },
    { m: { x: "1" } },
    [],
  ],
  ["what is open is kept whole", { o: open }, { o: { deep: { x: 1 } } }, { o: { deep: { x: 1 } } }, []],
  [
    "items are pruned, too",
    { l: { type: "array", items: { type: "object", properties: { a: text } } } },
    { l: [{ a: "1", b: 1 }] },
    { l: [{ a: "1" }] },
    ["spec.l[0].b"],
  ],
  [
    "a name of the language is a name",
    { a: text },
    JSON.parse('{"__proto__": 1, "a": "x"}'),
    { a: "x" },
    ["spec.__proto__"],
  ],
] as const;

for (const [name, properties, spec, wanted, dropped] of pruned)
  test(`pruning: ${name}`, () => {
    const schema = { type: "object", properties: { spec: { type: "object", properties } } };
    const found = pruneRoot(schema, { kind: "K", metadata: { name: "n" }, spec });
    assert.deepEqual(found.object, { kind: "K", metadata: { name: "n" }, spec: wanted });
    assert.deepEqual(found.dropped, dropped);
  });

const defaults = [
  ["a missing field gets its default", { a: { type: "string", default: "x" } }, {}, { a: "x" }],
  ["one that is there keeps its value", { a: { type: "string", default: "x" } }, { a: "y" }, { a: "y" }],
  ["null gets the default where it may not be", { a: { type: "string", default: "x" } }, { a: null }, { a: "x" }],
  ["null stays where it may be", { a: { type: "string", default: "x", nullable: true } }, { a: null }, { a: null }],
  ["null without a default goes", { a: text }, { a: null }, {}],
  ["an object that is missing is not made", { o: { type: "object", properties: { a: { default: 1 } } } }, {}, {}],
  [
    "an object that is there is filled",
    { o: { type: "object", properties: { a: { default: 1 } } } },
    { o: {} },
    { o: { a: 1 } },
  ],
] as const;

for (const [name, properties, value, wanted] of defaults)
  test(`defaults: ${name}`, () => assert.deepEqual(defaulted({ type: "object", properties }, value), wanted));

const judged = [
  [{ type: "integer" }, 3, []],
  [{ type: "integer" }, "3", ['Invalid value: "string": f in body must be of type integer: "string"']],
  [{ type: "number" }, 3, []],
  [{ type: "string", enum: ["a"] }, "b", ['Unsupported value: "b": supported values: "a"']],
  [{ type: "integer", minimum: 1 }, 0, ["Invalid value: 0: f in body should be greater than or equal to 1"]],
  [{ type: "integer", maximum: 1 }, 2, ["Invalid value: 2: f in body should be less than or equal to 1"]],
  [{ type: "string", pattern: "^a+$" }, "b", ["Invalid value: \"b\": f in body should match '^a+$'"]],
  [{ type: "string", maxLength: 1 }, "ab", ["Too long: may not be more than 1 bytes"]],
  [{ "x-kubernetes-int-or-string": true }, "1Gi", []],
  [{ "x-kubernetes-int-or-string": true }, 5, []],
  [{ type: "string", nullable: true }, null, []],
  [{ type: "object", required: ["a"] }, {}, ["Required value"]],
  [{ type: "string", format: "date-time" }, "2026-01-02T03:04:05Z", []],
  [{ not: { type: "string" } }, 1, []],
] as const;

for (const [schema, value, wanted] of judged)
  test(`${JSON.stringify(schema)} of ${JSON.stringify(value)}: ${wanted.length === 0 ? "nothing" : wanted}`, () =>
    assert.deepEqual(
      faults(schema, value, "f").map(({ message }) => message),
      wanted,
    ));
