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
    ["packed, of which its head is left", cut(4)],
    ["packed, and empty", cut(0)],
    ["of bytes that nobody packed", { packed: { B: new Uint8Array([1, 2, 3, 0, 255]) } }],
    ["packed, and a text when it is unpacked", { packed: { B: gzipSync("rubbish") } }],
    ["packed so that it unpacks to no end", { packed: { B: gzipSync(Buffer.alloc(20 << 20)) } }],
    ["cut off", { record: { S: text.slice(0, 100) } }],
  ];
  for (const [name, item] of rows)
    test(`${name}: is a record, though none that can be read`, () => {
      const { record } = loadedOf({ ...item, version: { S: "1" } });
      assert.ok(typeof record === "string" && record !== "");
    });

  test("that is whole is read as it was packed", () =>
    assert.deepEqual(loadedOf({ packed: { B: packed }, version: { S: "1" } }), {
      record: JSON.parse(text),
      version: "1",
    }));
});
