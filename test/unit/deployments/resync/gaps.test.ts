/** Gaps in the news of watches, and the resync after them. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { resyncAfterGaps } from "../../../../shared/deployments/resync/sweep.ts";

test("watches that lost their places within a second are followed by one resync, a later one by another", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    let resyncs = 0;
    const gaps = resyncAfterGaps(() => {
      resyncs += 1;
    });
    gaps.gap();
    mock.timers.tick(900);
    gaps.gap();
    assert.equal(resyncs, 0);
    mock.timers.tick(100);
    assert.equal(resyncs, 1);
    gaps.gap();
    mock.timers.tick(1_000);
    assert.equal(resyncs, 2);
    assert.equal(gaps.end(), false);
    gaps.gap();
    assert.equal(gaps.end(), true);
    mock.timers.tick(2_000);
    assert.equal(resyncs, 2);
  } finally {
    mock.timers.reset();
  }
});
