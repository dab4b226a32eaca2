/** The changes of a spec, read back from the patches of its record. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { specsAfter } from "../../../shared/engine/checkpoint/specs.ts";
import type { Specs } from "../../../shared/engine/ports.ts";
import type { RecordView } from "../../../shared/inspection/record.ts";
import { specChangesOf } from "../../../shared/inspection/spec-changes.ts";

const recordWith = (specs: unknown): RecordView => ({ schema: 1, uid: "u", saves: 1, memory: {}, specs });

const kept = (...specs: readonly unknown[]): Specs | undefined =>
  specs.reduce<Specs | undefined>((before, spec, at) => {
    const metadata = { name: "app", uid: "u", resourceVersion: "1", generation: at + 1 };
    return specsAfter(before, { apiVersion: "v1", kind: "Toy", metadata, spec }, at * 1_000);
  }, undefined);

const fieldsOf = (...specs: readonly unknown[]) =>
  specChangesOf(recordWith(kept(...specs))).map(({ fields }) =>
    fields?.map(({ path, before, after }) => [path, before, after]),
  );

describe("the changes of a spec", () => {
  test("have each field with its values before and after, the oldest change first", () => {
    const found = fieldsOf(
      { image: "a:1", driver: { cores: 1, env: ["1", "2"] } },
      { image: "a:2", driver: { cores: 1, env: ["1", "3"] } },
      { image: "a:2", driver: { cores: 2, env: ["1", "3"] }, suspend: true },
    );
    assert.deepEqual(found, [
      [
        ["driver.env[1]", "2", "3"],
        ["image", "a:1", "a:2"],
      ],
      [
        ["driver.cores", 1, 2],
        ["suspend", undefined, true],
      ],
    ]);
  });

  test("have a removed and a replaced part as a whole", () => {
    assert.deepEqual(fieldsOf({ a: { b: 1 }, c: [1] }, { c: { d: 1 } }), [
      [
        ["a", { b: 1 }, undefined],
        ["c", [1], { d: 1 }],
      ],
    ]);
  });

  test("before one that is too large are not known", () => {
    const found = fieldsOf({ a: 1 }, { a: 2 }, { a: Array.from({ length: 4_000 }, () => 1) }, { a: 3 }, { a: 4 });
    assert.deepEqual(found, [undefined, undefined, undefined, [["a", 3, 4]]]);
  });

  test("of a record of before, or one that cannot be read, are none", () => {
    for (const specs of [undefined, "x", { spec: 1 }, { generation: 1, spec: "{}", changes: [[9e15, "{}"]] }])
      assert.deepEqual(specChangesOf(recordWith(specs)), []);
    assert.deepEqual(specChangesOf(recordWith({ spec: "{", changes: [[1, "{"]] }))[0]?.fields, undefined);
  });
});
