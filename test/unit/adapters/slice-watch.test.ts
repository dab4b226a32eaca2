/** The thread that watches slices stops those that take too long, and nothing else. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { watchedSlices } from "../../../shared/adapters/slice-watch.ts";
import { BudgetError } from "../../../shared/core/http.ts";

/** Slices whose thread has been started by many of them; without it, `guarded` counts them. */
const opened = () => {
  const counts = { guarded: 0 };
  const slices = watchedSlices({
    later: (begin) => void setImmediate(begin),
    guard: (_, work) => {
      counts.guarded += 1;
      work();
    },
  });
  /** Resolves with the reason why the work was stopped, or "done". */
  const run = (ms: number, work: () => void): Promise<string> =>
    new Promise((resolve) =>
      slices.later(() => {
        slices.guard(ms, work, (cause) => resolve(cause instanceof BudgetError ? cause.why : `${cause}`));
        resolve("done");
      }),
    );
  const warmUp = async (): Promise<void> => {
    for (let at = 0; at < 100; at += 1) await run(1_000, () => {});
    for (let guarded = -1; guarded !== counts.guarded; ) {
      guarded = counts.guarded;
      await sleep(20);
      await run(1_000, () => {});
    }
  };
  return { counts, run, warmUp };
};

/** Busy for two seconds, unless it is stopped. */
const busy = (): void => {
  const end = performance.now() + 2_000;
  while (performance.now() < end);
};

/** Runs the work until the machine gives it a processor: starved work was not on it. */
const outcomeOf = async (run: () => Promise<string>): Promise<string> => {
  for (let tries = 0; tries < 10; tries += 1) {
    const why = await run();
    if (why !== "starved") return why;
  }
  return "starved";
};

describe("slices that a thread watches", () => {
  const { counts, run, warmUp } = opened();
  before(warmUp);

  test("are watched only after many of them", async () => {
    const few = opened();
    for (let at = 0; at < 50; at += 1) await few.run(1_000, () => {});
    assert.equal(few.counts.guarded, 50);
    const { guarded } = counts;
    for (let at = 0; at < 50; at += 1) assert.equal(await run(1_000, () => {}), "done");
    assert.equal(counts.guarded, guarded);
  });

  const rows: readonly (readonly [what: string, work: () => void])[] = [
    ["a loop", busy],
    [
      "a loop that catches every error",
      () => {
        try {
          busy();
        } catch {
          busy();
        }
      },
    ],
    [
      "a loop in a finally block",
      () => {
        try {
          busy();
        } finally {
          busy();
        }
      },
    ],
    ["a regular expression that backtracks without end", () => void /^(a+)+$/.test(`${"a".repeat(27)}b`)],
    [
      "a sort",
      () =>
        void Array.from({ length: 10 }, (_, at) => at).sort((a, b) => {
          busy();
          return a - b;
        }),
    ],
  ];
  for (const [what, work] of rows)
    test(`are stopped in ${what}`, async () => {
      assert.equal(await outcomeOf(() => run(300, work)), "stopped");
    });

  test("that come to their end after their limit are stopped, and nothing after them is", async () => {
    const outcomes = new Set<string>();
    for (let at = 0; at < 20; at += 1) {
      const late = (): void => {
        const end = performance.now() + 48 + at;
        while (performance.now() < end);
      };
      outcomes.add(await run(50, late));
      const rest = performance.now() + 10;
      while (performance.now() < rest);
      await sleep(1);
    }
    assert.ok([...outcomes].every((outcome) => ["done", "stopped", "starved"].includes(outcome)));
  });

  test("tell the error of their work", async () => {
    const fail = (): void => {
      throw new RangeError("own");
    };
    assert.equal(await run(1_000, fail), "RangeError: own");
  });
});
