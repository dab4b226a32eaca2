/** The quota of a run over time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grantWord, type QuotaUse, useAfter, useOfBase } from "../../../../shared/spark/executors/quota-use.ts";

/** Looks, each of executors granted and waited for at an instant. */
const after = (looks: readonly (readonly [granted: number, waits: number, now: number])[]): QuotaUse =>
  looks.reduce<QuotaUse>((use, [granted, waits, now]) => useAfter(use, granted, waits, now), useOfBase(1_000, 2));

test("an interval ends when what is granted or waited for changes, and its executors count for as long as it lasted", () => {
  const use = after([
    [2, 3, 5_000],
    [5, 0, 9_000],
    [5, 0, 10_000],
    [2, 0, 20_000],
  ]);
  assert.deepEqual(use, [20_000, 2, 0, 5, 2 * 8_000 + 5 * 11_000, 3 * 4_000]);
});

test("a look that shows nothing new changes nothing, and a clock that goes back adds nothing", () => {
  const use = useOfBase(1_000, 2);
  assert.equal(useAfter(use, 2, 0, 99_000), use);
  assert.deepEqual(useAfter(use, 3, 0, 500), [500, 3, 0, 2, 0, 0]);
});

test("a change of what is granted is told by two steps, one of a wait by none", () => {
  const granted = after([[5, 0, 2_000]]);
  assert.deepEqual(grantWord(granted), {
    reason: "GrowthGranted",
    message: "Kueue has granted 3 more executors: 5 in all",
  });
  const again = useAfter(granted, 5, 0, 3_000);
  assert.equal(grantWord(again), undefined);
  assert.equal(grantWord(after([[2, 4, 2_000]])), undefined);
  assert.deepEqual(grantWord(useAfter(again, 2, 0, 4_000)), {
    reason: "GrowthEnded",
    message: "the grant of 3 executors has ended: 2 are left",
  });
});
