/** Texts of other authors: what a reader sees of them, and the start of one that is kept. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startOf, visible } from "../../../shared/core/text.ts";

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

describe("a text of any author", () => {
  test("shows characters that steer terminals and logs as codes", () => {
    for (const one of [
      "\u001b",
      "\r",
      "\u0085",
      "\u00ad",
      "\u061c",
      "\u200e",
      "\u200b",
      "\u2028",
      "\u2029",
      "\u202e",
      "\u2066",
      "\ufeff",
    ])
      assert.equal(visible(`a${one}b`), `a\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}b`);
    assert.equal(visible("a\u{e0041}b"), "a\\udb40\\udc41b");
    assert.equal(visible("a\ud83d"), "a\\ud83d");
  });

  test("keeps line ends, tabs, and letters of every script", () => {
    const text = "grün\t🐘\nיום\u0301 日本";
    assert.equal(visible(text), text);
  });
});
