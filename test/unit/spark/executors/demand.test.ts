/** The demand of a driver: its bounds, its gauge, and the number of executors that follows, answer by answer. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeResult } from "../../../../shared/core/plan.ts";
import {
  type Demand,
  demandAfter,
  demandShape,
  firstDemand,
  gaugeIn,
  type Scale,
  scaleOf,
  targetOf,
} from "../../../../shared/spark/executors/demand.ts";
import { specSchema } from "../../../../shared/spark/schema/application.ts";

const specOf = (changes: object) =>
  specSchema.parse({
    type: "Scala",
    sparkVersion: "4.1.1",
    mainApplicationFile: "local:///opt/pi.jar",
    driver: {},
    executor: {},
    ...changes,
  });

const usual: Scale = { least: 0, most: 20, initial: 0, backlogMs: 1_000, idleMs: 60_000, slots: 1 };

describe("the bounds of dynamic allocation", () => {
  const unbounded = { ...usual, most: 20_000 };
  const on = { "spark.dynamicAllocation.enabled": "true" };
  const enabled = { enabled: true };
  const rows: readonly (readonly [changes: object, scale: Scale | undefined])[] = [
    [{}, undefined],
    [{ dynamicAllocation: { enabled: false, maxExecutors: 4 } }, undefined],
    [{ dynamicAllocation: enabled }, unbounded],
    [{ sparkConf: { "spark.dynamicAllocation.enabled": " TRUE " } }, unbounded],
    [
      { dynamicAllocation: { enabled: true, minExecutors: 2, maxExecutors: 8, initialExecutors: 3 } },
      { ...usual, least: 2, most: 8, initial: 3 },
    ],
    [{ dynamicAllocation: { enabled: true, minExecutors: 2 } }, { ...unbounded, least: 2, initial: 2 }],
    [
      { dynamicAllocation: { enabled: true, maxExecutors: 4 }, executor: { instances: 9 } },
      { ...usual, most: 4, initial: 4 },
    ],
    [
      {
        sparkConf: { ...on, "spark.dynamicAllocation.minExecutors": "1", "spark.dynamicAllocation.maxExecutors": "5" },
      },
      { ...usual, least: 1, most: 5, initial: 1 },
    ],
    [
      {
        dynamicAllocation: { enabled: true, maxExecutors: 3 },
        sparkConf: { "spark.dynamicAllocation.maxExecutors": "5" },
      },
      { ...usual, most: 3 },
    ],
    [
      { sparkConf: { ...on, "spark.dynamicAllocation.executorIdleTimeout": "90", "spark.executor.instances": "2" } },
      { ...unbounded, idleMs: 90_000, initial: 2 },
    ],
    [
      { sparkConf: { ...on, "spark.dynamicAllocation.schedulerBacklogTimeout": "2m" } },
      { ...unbounded, backlogMs: 120_000 },
    ],
    [
      { dynamicAllocation: enabled, executor: { cores: 5 }, sparkConf: { "spark.task.cpus": "2" } },
      { ...unbounded, slots: 2 },
    ],
    [{ sparkConf: { ...on, "spark.executor.cores": "3" } }, { ...unbounded, slots: 3 }],
  ];
  for (const [changes, scale] of rows)
    test(JSON.stringify(changes), () => assert.deepEqual(scaleOf(specOf(changes)), scale));
});

describe("the gauge in the driver's metrics", () => {
  const name = "spark-1.driver.ExecutorAllocationManager.executors.numberMaxNeededExecutors";
  const said = (gauges: unknown): ProbeResult => ({ heard: true, value: { version: "4.0.0", gauges, counters: {} } });
  const rows: readonly (readonly [what: string, answer: ProbeResult, need: number | undefined])[] = [
    ["of a usual answer", said({ [name]: { value: 40 }, "spark-1.driver.jvm": { value: "x" } }), 40],
    ["under the user's namespace", said({ ["my.team".concat(name.slice(7))]: { value: 3 } }), 3],
    ["that is a fraction", said({ [name]: { value: 2.5 } }), 3],
    ["that is huge", said({ [name]: { value: 1e12 } }), 20_000],
    ["that is absent", said({}), undefined],
    ["that is negative", said({ [name]: { value: -1 } }), undefined],
    ["that is no number", said({ [name]: { value: "40" } }), undefined],
    ["that appears twice", said({ [name]: { value: 1 }, [`x${name}`]: { value: 2 } }), undefined],
    ["of another form", { heard: true, value: [] }, undefined],
    ["of no answer", { heard: false, why: "timeout", message: "" }, undefined],
  ];
  for (const [what, answer, need] of rows) test(`${what}: ${need}`, () => assert.equal(gaugeIn(answer), need));
});

/** Answers 5 s apart, each with the number of executors that is wanted after it. */
type Course = readonly (readonly [gauge: number, target: number])[];

const run = (scale: Scale, course: Course, start: Demand = firstDemand(scale, 0, 0)): readonly number[] => {
  let demand = start;
  return course.map(([gauge], index) => {
    demand = demandAfter(scale, demand, gauge, (index + 1) * 5_000);
    demandShape.parse(demand);
    return targetOf(scale, demand);
  });
};

const times = (count: number, gauge: number, target: number): Course =>
  Array.from({ length: count }, () => [gauge, target] as const);

describe("the number of executors", () => {
  const rows: readonly (readonly [what: string, scale: Partial<Scale>, course: Course])[] = [
    [
      "rises at once, and stays within the maximum",
      {},
      [
        [4, 4],
        [9, 9],
        [4_000, 20],
      ],
    ],
    ["never falls below the minimum", { least: 2 }, [[0, 2], [5, 5], ...times(12, 0, 5), [0, 2], [0, 2]]],
    [
      "falls after the idle timeout to the highest need within it",
      {},
      [[9, 9], [1, 9], [3, 9], ...times(10, 1, 9), [1, 3], ...times(12, 1, 3), [1, 1]],
    ],
    [
      "does not fall while the gauge flaps",
      {},
      Array.from({ length: 40 }, (_, at) => [at % 2 === 0 ? 8 : 0, 8] as const),
    ],
    [
      "rises only for a backlog of the backlog timeout",
      { backlogMs: 10_000 },
      [
        [4, 0],
        [4, 0],
        [6, 6],
        [0, 6],
      ],
    ],
    [
      "does not rise for a backlog that was over in between",
      { backlogMs: 10_000 },
      [
        [4, 0],
        [0, 0],
        [4, 0],
        [4, 0],
        [4, 4],
      ],
    ],
    ["is the initial number until the idle timeout", { initial: 3 }, [...times(11, 0, 3), [0, 0]]],
    [
      "is the initial number until more are needed",
      { initial: 3 },
      [
        [0, 3],
        [5, 5],
      ],
    ],
  ];
  for (const [what, scale, course] of rows)
    test(what, () =>
      assert.deepEqual(
        run({ ...usual, ...scale }, course),
        course.map(([, target]) => target),
      ),
    );

  test("follows bounds that change, without an answer of the driver", () => {
    const demand: Demand = { target: 9, at: 0 };
    assert.equal(targetOf({ ...usual, most: 4 }, demand), 4);
    assert.equal(targetOf({ ...usual, least: 12 }, demand), 12);
    assert.equal(targetOf({ ...usual, initial: 5 }, undefined), 5);
  });

  test("has the same state while answers change nothing, so that nothing is saved", () => {
    const demand = demandAfter(usual, { target: 4, at: 0 }, 9, 5_000);
    assert.equal(demandAfter(usual, demand, 9, 10_000), demand);
    assert.equal(demandAfter({ ...usual, most: 9 }, demand, 40, 10_000), demand);
    const fewer = demandAfter(usual, demand, 3, 15_000);
    assert.equal(demandAfter(usual, fewer, 2, 20_000), fewer);
  });

  test("does not fall by two answers that are farther apart than answers are saved", () => {
    const fewer = demandAfter(usual, { target: 8, at: 0 }, 0, 5_000);
    const later = demandAfter(usual, fewer, 0, 125_000);
    assert.deepEqual(later, { target: 8, at: 125_000, fewer: { since: 125_000, most: 0, seen: 125_000 } });
  });

  test("does not count as idle the time of an answer that is missing, or that was not saved", () => {
    const quick = { ...usual, idleMs: 20_000 };
    const first = demandAfter(quick, { target: 3, at: 0 }, 0, 14_000);
    const refused = demandAfter(quick, first, 0, 20_500);
    assert.deepEqual(refused.fewer, { since: 14_000, most: 0, seen: 20_500 });
    const missing = demandAfter(quick, refused, 0, 34_000);
    assert.deepEqual(missing, { target: 3, at: 34_000, fewer: { since: 20_000, most: 0, seen: 34_000 } });
    assert.deepEqual(demandAfter(quick, missing, 0, 40_000), { target: 0, at: 40_000 });
  });

  test("falls on time by answers that come a little too early or too late", () => {
    const fewer = demandAfter(usual, { target: 8, at: 0 }, 0, 5_000);
    const answers = [10_010, 14_990, 19_990, 25_010, 30_000, 34_980, 40_020, 45_000, 49_980, 55_010, 60_000, 65_000];
    const last = answers.reduce((demand, at) => demandAfter(usual, demand, 0, at), fewer);
    assert.deepEqual(last, { target: 0, at: 65_000 });
  });

  test("starts with the live executors if the record was lost", () => {
    assert.deepEqual(firstDemand(usual, 7, 1_000), { target: 7, at: 1_000, initialUntil: 61_000 });
  });
});
