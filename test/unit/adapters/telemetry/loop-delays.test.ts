/** The delays of the event loop are sampled while it works, and at rest nothing but a timer of a second is left. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { openLoopDelays } from "../../../../shared/adapters/telemetry/loop-delays.ts";

/** Opens the samples on a clock that only `pass` turns: each second the loop works for so many ms. */
const opened = () => {
  mock.timers.enable({ apis: ["setInterval"] });
  let active = 0;
  const take = openLoopDelays(() => active);
  return {
    take,
    pass: (seconds: number, workMs: number): void => {
      for (let second = 0; second < seconds; second += 1) {
        active += workMs;
        mock.timers.tick(1_000);
      }
    },
  };
};

test("a loop at rest is not sampled", () => {
  const { take, pass } = opened();
  try {
    pass(10, 49);
    assert.equal(take().count, 0);
  } finally {
    mock.timers.reset();
  }
});

test("a loop that works is sampled every 10 ms from the next second on, until a second of rest has passed", () => {
  const { take, pass } = opened();
  try {
    pass(3, 50);
    assert.equal(take().count, 200);
    pass(1, 0);
    // The look at the end of the second comes before its last sample.
    assert.equal(take().count, 99);
    pass(5, 0);
    assert.equal(take().count, 0);
  } finally {
    mock.timers.reset();
  }
});
