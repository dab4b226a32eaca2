/** The patches of kustomizations: what they make of an object is the other one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kustomizations } from "../../../infra/kustomize.ts";
import { operationsOf } from "../../../infra/patches.ts";

describe("a patch", () => {
  test("changes only what differs, and lists from their ends", () => {
    const before = { kind: "Role", metadata: { "a/b": 1, old: 2 }, rules: [{ a: 1 }, { b: 2 }, { c: 3 }] };
    const after = { kind: "Role", metadata: { "a/b": 3, new: 4 }, rules: [{ z: 0 }, { b: 2 }, { d: 4 }] };
    assert.deepEqual(operationsOf(before, before), []);
    assert.deepEqual(operationsOf(before, after), [
      { op: "remove", path: "/metadata/old" },
      { op: "replace", path: "/metadata/a~1b", value: 3 },
      { op: "add", path: "/metadata/new", value: 4 },
      { op: "remove", path: "/rules/2" },
      { op: "remove", path: "/rules/0" },
      { op: "add", path: "/rules/0", value: { z: 0 } },
      { op: "add", path: "/rules/2", value: { d: 4 } },
    ]);
  });

  test("no object stands in two files", () => {
    const files = kustomizations("image", {}).filter(({ path }) => !path.toLowerCase().includes("kustomization"));
    const objects = files.flatMap(({ path, text }) =>
      text
        .split(/^---$/m)
        .map((one) => ({ path, one: one.trim() }))
        .filter(({ one }) => one !== ""),
    );
    const twice = [...Map.groupBy(objects, ({ one }) => one).values()].filter((holders) => holders.length > 1);
    assert.deepEqual(
      twice.map((holders) => holders.map(({ path }) => path)),
      [],
    );
    assert.ok(objects.length > 60);
  });
});
