/** A simulated driver with dynamic allocation of its own: its executors follow the gauge of its script. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, type Stand, submit } from "../stand.ts";

const confs = {
  "spark.dynamicAllocation.enabled": "true",
  "spark.dynamicAllocation.maxExecutors": "6",
  "spark.dynamicAllocation.executorIdleTimeout": "20s",
  "spark.executor.instances": "0",
};

/** A driver that needs eight executors, then one, and then three; its container starts within the first second. */
const gauge = [
  [0, 8],
  [30_000, 1],
  [90_000, 3],
] as const;

const bursty = (more: Readonly<Record<string, string>> = {}): Stand => {
  const stand = open({ scripts: { pi: [{ jobMs: 120_000, gauge }] } });
  submit(stand, "pi", { ...confs, ...more });
  return stand;
};

const running = (stand: Stand): number => stand.pods().filter((pod) => /-exec-\d+ Running$/.test(pod)).length;

/** The numbers of executors that run after these times, ms. */
const course = (stand: Stand, times: readonly number[]): readonly number[] => {
  let passed = 0;
  return times.map((time) => {
    stand.pass(time - passed);
    passed = time;
    return running(stand);
  });
};

test("its executors are doubled second by second up to the maximum", () => {
  const stand = bursty();
  const made = course(stand, [3_000, 4_100, 5_100, 6_100, 20_000]);
  assert.deepEqual(
    made.map((count, at) => count - (made[at - 1] ?? 0)).filter((more) => more > 0),
    [1, 2, 3],
  );
});

test("executors that are not needed end after the idle timeout, and others come when they are needed", () => {
  assert.deepEqual(course(bursty(), [45_000, 55_000, 85_000, 100_000]), [6, 1, 1, 3]);
});

test("it keeps its minimum", () => {
  assert.deepEqual(course(bursty({ "spark.dynamicAllocation.minExecutors": "2" }), [20_000, 60_000]), [6, 2]);
});

test("a driver whose backlog timeout is longer than a day asks for none", () => {
  const stand = bursty({ "spark.dynamicAllocation.schedulerBacklogTimeout": "10000000s" });
  assert.deepEqual(course(stand, [20_000, 60_000]), [0, 0]);
});

test("the job ends, and its last executors with it", () => {
  const stand = bursty();
  stand.rest();
  assert.deepEqual(stand.pods(), ["pi-driver Succeeded"]);
});
