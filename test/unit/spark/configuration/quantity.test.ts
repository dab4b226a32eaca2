/** Amounts in the forms of Spark and of Kubernetes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bytesOf, mebibytesOf, ratioOf } from "../../../../shared/spark/configuration/conf.ts";

describe("a memory size of Spark", () => {
  const rows: readonly (readonly [string, number | undefined])[] = [
    ["512m", 512],
    ["2g", 2048],
    ["2GB", 2048],
    [" 1t ", 1_048_576],
    ["1500", 1500],
    ["1536k", 1],
    ["2147483648b", 2048],
    ["512q", undefined],
    ["1Gi", 1024],
    ["1.5g", undefined],
    ["", undefined],
  ];
  for (const [text, mebibytes] of rows) {
    test(`"${text}" is ${mebibytes ?? "no size"}`, () => assert.equal(mebibytesOf(text), mebibytes));
  }
  test("without a unit has the default unit of the caller", () => assert.equal(bytesOf("3", "k"), 3072));
});

test("ratios are parsed as Java parses doubles", () => {
  assert.deepEqual(["0.1", "1", "1e-1", "0.5d", "x", ""].map(ratioOf), [0.1, 1, 0.1, 0.5, undefined, undefined]);
});
