/** Durations as Go reads and prints them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { durationMs, durationText } from "../../../../shared/volcano/schema/spec.ts";

const read: readonly (readonly [text: string, ms: number | undefined])[] = [
  ["10m", 600_000],
  ["1h30m", 5_400_000],
  ["10m0s", 600_000],
  ["1.5s", 1_500],
  ["300ms", 300],
  ["0", 0],
  ["-5s", -5_000],
  ["", undefined],
  ["5", undefined],
  ["5 m", undefined],
  ["1d", undefined],
];

test("durations are parsed as Go parses them", () => {
  assert.deepEqual(
    read.map(([text]) => [text, durationMs(text)]),
    read,
  );
});

test("durations are printed as Go prints them", () => {
  assert.deepEqual([0, 59_999, 61_000, 3_661_000].map(durationText), ["0s", "59s", "1m1s", "1h1m1s"]);
});
