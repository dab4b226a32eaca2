/** Patches of every type, as tables. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonPatch, mergePatch, strategicMerge } from "../../../../shared/simulator/schema/patch.ts";

const merges = [
  [
    { a: 1, b: 2 },
    { a: null, c: 3 },
    { b: 2, c: 3 },
  ],
  [{ a: { x: 1, y: 2 } }, { a: { x: null } }, { a: { y: 2 } }],
  [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
  [{ a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
] as const;

for (const [value, patch, wanted] of merges)
  test(`merge ${JSON.stringify(patch)}`, () => assert.deepEqual(mergePatch(value, patch), wanted));

const edits = [
  [{ a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  [{ a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
  [{ a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
  [{ a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  [{ a: { "x/y": 1 } }, [{ op: "replace", path: "/a/x~1y", value: 2 }], { a: { "x/y": 2 } }],
  [{ a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
  [{ a: 1 }, [{ op: "copy", from: "/a", path: "/b" }], { a: 1, b: 1 }],
  [{ a: 1 }, [{ op: "test", path: "/a", value: 1 }], { a: 1 }],
] as const;

for (const [value, patch, wanted] of edits)
  test(`json ${JSON.stringify(patch)}`, () => assert.deepEqual(jsonPatch(value, patch), wanted));

const refused = [
  [{ a: 1 }, [{ op: "test", path: "/a", value: 2 }]],
  [{ a: 1 }, [{ op: "remove", path: "/b" }]],
  [{ a: 1 }, [{ op: "replace", path: "/b/c", value: 1 }]],
  [{ a: [] }, [{ op: "add", path: "/a/5", value: 1 }]],
  [{ a: 1 }, [{ op: "turn", path: "/a" }]],
] as const;

for (const [value, patch] of refused)
  test(`json ${JSON.stringify(patch)} is refused`, () => {
    assert.throws(() => jsonPatch(value, patch), { code: 422 });
  });

const containers = (...list: readonly object[]) => ({ spec: { containers: list } });

const strategic = [
  [containers({ name: "a", image: "1" }), containers({ name: "a", image: "2" }), containers({ name: "a", image: "2" })],
  [containers({ name: "a" }), containers({ name: "b" }), containers({ name: "a" }, { name: "b" })],
  [containers({ name: "a" }, { name: "b" }), containers({ name: "a", $patch: "delete" }), containers({ name: "b" })],
  [containers({ name: "a" }), containers({ name: "b" }, { $patch: "replace" }), containers({ name: "b" })],
  [
    containers({ name: "a" }, { name: "b" }),
    { spec: { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] } },
    containers({ name: "b" }, { name: "a" }),
  ],
  [{ metadata: { finalizers: ["a"] } }, { metadata: { finalizers: ["b"] } }, { metadata: { finalizers: ["a", "b"] } }],
  [
    { metadata: { finalizers: ["a", "b"] } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } },
    { metadata: { finalizers: ["b"] } },
  ],
  [{ spec: { tolerations: [1] } }, { spec: { tolerations: [2] } }, { spec: { tolerations: [2] } }],
  [{ a: { b: 1, c: 2 } }, { a: { $retainKeys: ["c"], c: 3 } }, { a: { c: 3 } }],
  [{ a: { b: 1 } }, { a: { $patch: "replace", c: 2 } }, { a: { c: 2 } }],
] as const;

for (const [value, patch, wanted] of strategic)
  test(`strategic ${JSON.stringify(patch)}`, () => assert.deepEqual(strategicMerge(value, patch), wanted));
