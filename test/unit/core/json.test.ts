/** Equality, digest and merge patch of JSON values: properties over any value. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { digestOf, jsonOf, mergePatch, opensMoreThan, same } from "../../../shared/core/json.ts";

/** Values as Kubernetes stores them: a merge patch cannot store a null in an object, so there is none. */
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>("", "a", 0, 1, true, false),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__", "constructor"), tie("value"), { maxKeys: 4 }),
  ),
}));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Applies a merge patch as RFC 7386 defines it. */
const applied = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const result = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, applied(result.get(key), value));
  }
  return Object.fromEntries(result);
};

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  );
};

describe("a merge patch", () => {
  test("applied to what it is from gives what it is to", () => {
    fc.assert(
      fc.property(values, values, (from, to) => {
        const patch = mergePatch(from, to);
        const result = patch === undefined ? from : applied(from, overTheWire(patch));
        assert.ok(same(result, to), JSON.stringify({ from, to, patch, result }));
      }),
      { numRuns: 500 },
    );
  });

  test("between equals is none, and only then", () => {
    fc.assert(
      fc.property(values, values, (from, to) => {
        assert.equal(mergePatch(from, shuffled(from)), undefined);
        assert.equal(mergePatch(from, to) === undefined, same(from, to));
      }),
    );
  });

  const cases = [
    { from: { a: 1 }, to: { a: 1, b: undefined }, patch: undefined },
    { from: { a: 1, b: 2 }, to: { a: 1, b: undefined }, patch: { b: null } },
    { from: { a: { b: 1, c: 2 } }, to: { a: { b: 1, c: 3 } }, patch: { a: { c: 3 } } },
    { from: { a: [1, 2] }, to: { a: [1] }, patch: { a: [1] } },
    { from: { a: { b: 1 } }, to: { a: {} }, patch: { a: { b: null } } },
    { from: { a: 1 }, to: { a: {} }, patch: { a: {} } },
    { from: {}, to: { a: {} }, patch: { a: {} } },
    { from: { a: null }, to: {}, patch: { a: null } },
  ];
  for (const { from, to, patch } of cases) {
    test(`from ${JSON.stringify(from)} to ${JSON.stringify(to)}`, () => assert.deepEqual(mergePatch(from, to), patch));
  }
});

describe("equality and digest", () => {
  test("do not know the order of keys", () => {
    fc.assert(
      fc.property(values, (value) => {
        assert.ok(same(value, shuffled(value)));
        assert.equal(digestOf(value), digestOf(shuffled(value)));
      }),
    );
  });

  test("agree with each other", () => {
    fc.assert(fc.property(values, values, (a, b) => assert.equal(same(a, b), digestOf(a) === digestOf(b))));
  });

  /** Seals of records are digests: a later version must accept the seal of an earlier one. */
  test("gives what it always gave", () => {
    const value = { b: 1, a: undefined, "10": 2, "9": [undefined, { z: null, "4294967295": 1, "01": 3 }], é: "\n" };
    assert.equal(digestOf(value).slice(0, 16), "7c30bb911b6cd6b3");
  });

  const different: readonly (readonly [unknown, unknown])[] = [
    [{ a: 1 }, { a: "1" }],
    [{ a: null }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{}, []],
    [null, undefined],
    ["", null],
    [0, false],
  ];
  for (const [a, b] of different) {
    test(`${JSON.stringify(a)} is not ${JSON.stringify(b)}`, () => assert.equal(same(a, b), false));
  }
});

test("a text that is no JSON stands for nothing, and one that is for its value", () => {
  const rows: readonly (readonly [text: string, value: unknown])[] = [
    ['{"a":[1,null]}', { a: [1, null] }],
    ["null", null],
    ["0", 0],
    ["", undefined],
    ["{", undefined],
    ["undefined", undefined],
    ['{"a":1}x', undefined],
  ];
  for (const [text, value] of rows) assert.deepEqual(jsonOf(text), value, text);
});

const openedIn = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 0
    : 1 + Object.values(value).reduce((sum: number, one) => sum + openedIn(one), 0);

describe("the arrays and objects of a text", () => {
  test("are counted without parsing, whatever its strings hold", () => {
    const brackets = fc.string({ unit: fc.constantFrom("[", "{", '"', "\\", "a", "]") });
    const value = fc.oneof(values, fc.array(fc.oneof(brackets, fc.dictionary(brackets, brackets))));
    fc.assert(
      fc.property(value, (one) => {
        const [text, count] = [JSON.stringify(one), openedIn(one)];
        assert.equal(opensMoreThan(text, count), false);
        assert.equal(opensMoreThan(text, count - 1), true);
      }),
    );
  });

  test("are counted in a text that is no JSON, too", () => {
    assert.equal(opensMoreThan("[".repeat(100), 99), true);
    assert.equal(opensMoreThan(`"${"[".repeat(100)}`, 0), false);
  });
});
