/** The delays of the event loop are sampled while it works, and at rest nothing but a timer of 250 ms is left. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { openLoopDelays } from "../../../../shared/adapters/telemetry/loop-delays.ts";

/** Opens the samples on a clock that only `pass` turns: in each quarter of a second the loop works for so many ms. */
const opened = () => {
  mock.timers.enable({ apis: ["setInterval"] });
  let active = 0;
  let now = 0;
  const take = openLoopDelays({ now: () => now, active: () => active });
  return {
    take,
    pass: (quarters: number, workMs: number): void => {
      for (let quarter = 0; quarter < quarters; quarter += 1) {
        active += workMs;
        for (let tick = 0; tick < 25; tick += 1) {
          now += 10;
          mock.timers.tick(10);
        }
      }
    },
    /** The loop runs nothing but one function for so many ms: then its timers come late, once. */
    block: (ms: number): void => {
      now += ms;
      active += ms;
      mock.timers.tick(250);
    },
  };
};

test("a loop at rest is not sampled", () => {
  const { take, pass } = opened();
  try {
    pass(40, 11);
    assert.equal(take().count, 0);
  } finally {
    mock.timers.reset();
  }
});

test("a loop that works is sampled every 10 ms from the next look on, until a quarter of a second of rest has passed", () => {
  const { take, pass } = opened();
  try {
    pass(3, 12);
    assert.equal(take().count, 50);
    pass(1, 0);
    // The look at the end of the quarter comes before its last sample.
    assert.equal(take().count, 24);
    pass(20, 0);
    assert.equal(take().count, 0);
  } finally {
    mock.timers.reset();
  }
});

test("a block that ends a rest is seen, up to 250 ms shorter than it was", () => {
  const { take, pass, block } = opened();
  try {
    pass(8, 0);
    block(3_000);
    const { count, max } = take();
    assert.equal(count, 1);
    assert.ok(max >= 2_740e6 && max <= 3_010e6, `${max} ns`);
  } finally {
    mock.timers.reset();
  }
});
