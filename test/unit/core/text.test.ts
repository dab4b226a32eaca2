/** The start of a text that is kept. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startOf } from "../../../shared/core/text.ts";

/** Returns the bytes of the heap after a garbage collection. */
const heap = (): number => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
};

describe("the start of a text", () => {
  test("has the first characters, also where they split a pair of surrogates", () => {
    assert.equal(startOf("abc", 2), "ab");
    assert.equal(startOf("ab", 2), "ab");
    assert.equal(startOf("a\u{1F525}", 2), "a\uD83D");
    assert.equal(startOf('"\\n\n" and more', 5), '"\\n\n"');
  });

  test("does not keep the rest in memory", () => {
    const before = heap();
    const starts = Array.from({ length: 50 }, (_, at) => startOf(JSON.parse(`"${at}${"x".repeat(1_000_000)}"`), 253));
    const grown = heap() - before;
    assert.equal(starts.length, 50);
    assert.ok(grown < 5_000_000, `${grown} bytes`);
  });
});
