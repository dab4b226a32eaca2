/** Instants as texts and back. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { instantOf, timeText } from "../../../shared/core/time.ts";

describe("an instant", () => {
  const cases = [
    { text: "2026-11-02T08:00:00Z", at: Date.UTC(2026, 10, 2, 8) },
    { text: "2026-11-02T08:00:00.250Z", at: Date.UTC(2026, 10, 2, 8) + 250 },
    { text: "2026-11-02T09:00:00+01:00", at: Date.UTC(2026, 10, 2, 8) },
    { text: null, at: undefined },
    { text: undefined, at: undefined },
    { text: "", at: undefined },
    { text: "soon", at: undefined },
  ];
  for (const { text, at } of cases) test(`of ${text}`, () => assert.equal(instantOf(text), at));

  test("is written in whole seconds and read back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), fc.nat(999), (seconds, ms) => {
        assert.equal(instantOf(timeText(seconds * 1_000 + ms)), seconds * 1_000);
        assert.match(timeText(seconds * 1_000 + ms), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      }),
    );
  });
});
