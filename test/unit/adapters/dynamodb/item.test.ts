/** Items with a damaged record: an unreadable item is reported as such, and never taken for a missing record. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Item, loadedOf } from "../../../../shared/adapters/dynamodb/table.ts";

const text = JSON.stringify({ schema: 1, cluster: "c", uid: "u", saves: 1, memory: "x".repeat(5_000) });
const packed = gzipSync(text);
const cut = (bytes: number): Item => ({ packed: { B: packed.subarray(0, bytes) } });

describe("an item", () => {
  const rows: readonly (readonly [name: string, item: Item])[] = [
    ["packed, and cut off in its middle", cut(packed.length >> 1)],
    ["packed, and cut off after its head", cut(4)],
    ["packed, and empty", cut(0)],
    ["of arbitrary bytes", { packed: { B: new Uint8Array([1, 2, 3, 0, 255]) } }],
    ["packed, with a text that is no JSON", { packed: { B: gzipSync("rubbish") } }],
    ["packed, with megabytes of zeros", { packed: { B: gzipSync(Buffer.alloc(20 << 20)) } }],
    ["cut off", { record: { S: text.slice(0, 100) } }],
  ];
  for (const [name, item] of rows)
    test(`${name}: loads as an unreadable record, not as a missing one`, () => {
      const { record } = loadedOf({ ...item, version: { S: "1" } });
      assert.ok(typeof record === "string" && record !== "");
    });

  test("that is packed loads as its record", () =>
    assert.deepEqual(loadedOf({ packed: { B: packed }, version: { S: "1" } }), {
      record: JSON.parse(text),
      version: "1",
    }));
});
