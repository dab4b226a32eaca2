/** Metrics of status writes: upstream's metrics, each event counted once, also if phases were skipped. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { gaugesOf, measuresOf, measuresOfSave, sparkFigures } from "../../../../shared/spark/application/metrics.ts";
import type { Memory } from "../../../../shared/spark/application/state/memory.ts";
import { dataDir, skipWithoutData } from "../../../support/data.ts";
import { application, driver, eight, remembered } from "./fixtures.ts";

const created = "2026-11-02T07:59:00Z";

const object = (status?: unknown) =>
  application({ status, metadata: { creationTimestamp: created, labels: { team: "data" } } });

const told = (before: unknown, after: object): readonly string[] =>
  measuresOf(object(before), after, eight).map(({ name, value }) => `${name.replace(/^spark_/, "")} ${value}`);

const state = (name: string) => ({ applicationState: { state: name } });
const first = { ...state("SUBMITTED"), submissionID: "a", submissionAttempts: 1, executionAttempts: 1 };
const running = { ...first, ...state("RUNNING") };
const times = { lastSubmissionAttemptTime: "2026-11-02T07:59:10Z", terminationTime: "2026-11-02T07:59:40Z" };

describe("a change of an application's status is counted as", () => {
  const cases: readonly { name: string; before: unknown; after: object; want: readonly string[] }[] = [
    {
      name: "an application, its submission and the submit latency",
      before: undefined,
      after: first,
      want: [
        "application_count 1",
        "application_submit_count 1",
        "application_submit_latency_seconds 60",
        "application_submit_latency_seconds_histogram 60",
      ],
    },
    { name: "nothing while nothing changes", before: first, after: first, want: [] },
    {
      name: "a start",
      before: first,
      after: running,
      want: ["application_start_latency_seconds 60", "application_start_latency_seconds_histogram 60"],
    },
    {
      name: "no start latency at a later execution",
      before: { ...first, executionAttempts: 2 },
      after: { ...running, executionAttempts: 2 },
      want: [],
    },
    {
      name: "a success and its time",
      before: running,
      after: { ...running, ...state("COMPLETED"), ...times },
      want: ["application_success_count 1", "application_success_execution_time_seconds 30"],
    },
    {
      name: "a failure and its time",
      before: running,
      after: { ...running, ...state("FAILED"), ...times },
      want: ["application_failure_count 1", "application_failure_execution_time_seconds 30"],
    },
    {
      name: "a submission, even if no status had the state SUBMITTED",
      before: { ...state("PENDING_RERUN"), submissionAttempts: 1, executionAttempts: 1 },
      after: { ...running, submissionID: "b", submissionAttempts: 2, executionAttempts: 2 },
      want: ["application_submit_count 1"],
    },
    {
      name: "a refused submission",
      before: undefined,
      after: { ...state("SUBMISSION_FAILED"), submissionAttempts: 1, executionAttempts: 0 },
      want: ["application_count 1", "application_failed_submission_count 1"],
    },
    {
      name: "one refusal when the refused application becomes FAILED",
      before: { ...state("SUBMISSION_FAILED"), submissionAttempts: 1, executionAttempts: 0 },
      after: { ...state("FAILED"), submissionAttempts: 1, executionAttempts: 0 },
      want: ["application_failure_count 1"],
    },
    {
      name: "executors that ended, each once",
      before: { ...running, executorState: { e1: "RUNNING", e2: "FAILED", e3: "RUNNING" } },
      after: { ...running, executorState: { e1: "COMPLETED", e2: "FAILED", e3: "FAILED", e4: "RUNNING" } },
      want: ["executor_success_count 1", "executor_failure_count 1"],
    },
    {
      name: "only an application if the earlier status cannot be parsed",
      before: "odd",
      after: { ...first, submissionID: 5 },
      want: ["application_count 1"],
    },
  ];
  for (const { name, before, after, want } of cases) test(name, () => assert.deepEqual(told(before, after), want));
});

test("gauges are computed from the object's status", () => {
  const status = { ...running, executorState: { e1: "RUNNING", e2: "RUNNING", e3: "FAILED" } };
  assert.deepEqual(
    gaugesOf(object(status)).map(({ name, value }) => [name, value]),
    [
      ["spark_application_running_count", 1],
      ["spark_executor_running_count", 2],
    ],
  );
});

test("labels are the application's own, and its namespace", () => {
  assert.deepEqual(measuresOf(object(), first, eight)[0]?.of, { team: "data", namespace: "default" });
});

test("Rekindle has every metric of a live upstream operator", {
  skip: skipWithoutData,
}, () => {
  const text = readFileSync(`${dataDir}/spark-operator/live-metrics.txt`, "utf8");
  const names = [...text.matchAll(/^(spark_\w+?)(?:_bucket|_sum|_count)?\{/gm)].map(([, name]) => name ?? "");
  const known = new Set(sparkFigures.flatMap(({ name }) => [name, name.replace(/_count$/, "")]));
  assert.deepEqual(
    [...new Set(names)].filter((name) => !known.has(name)),
    [],
  );
});

test("losses are counted at the save that records them, by reason, and from zero for each attempt", () => {
  const memory = (attempt: number, lost: object) => remembered({ executors: { attempt, lost } });
  const counted = (before: Memory | undefined, after: Memory) =>
    measuresOfSave(before, after, { namespace: "team-a" }).map(({ name, value, of }) => [name, value, of["reason"]]);
  const name = "rekindle_executor_losses_total";
  assert.deepEqual(counted(undefined, memory(1, { memory: 2 })), [[name, 2, "memory"]]);
  assert.deepEqual(counted(memory(1, { memory: 2 }), memory(1, { memory: 2, evicted: 1 })), [[name, 1, "evicted"]]);
  assert.deepEqual(counted(memory(1, { memory: 2 }), memory(2, { memory: 1 })), [[name, 1, "memory"]]);
  assert.deepEqual(counted(memory(1, { memory: 2 }), memory(1, { memory: 2 })), []);
});

test("executors that Kueue grants to growths, and grants no longer, are counted at the save that records the change", () => {
  const memory = (grown: Readonly<Record<string, number>>) =>
    remembered({ allotment: { attempt: 1, prefix: "app", next: 1001, alive: "", underway: [], grown } });
  const counted = (before: Memory | undefined, after: Memory) =>
    measuresOfSave(before, after, { namespace: "team-a" }).map(({ name, value, of }) => [name, value, of]);
  const of = { namespace: "team-a" };
  const [granted, ended] = ["granted", "ended"].map((what) => `rekindle_growth_${what}_executors_total`);
  assert.deepEqual(counted(undefined, memory({ "": 3, spot: 2 })), [[granted, 5, of]]);
  assert.deepEqual(counted(memory({ "": 3 }), memory({ "": 3, spot: 4 })), [[granted, 4, of]]);
  assert.deepEqual(counted(memory({ "": 3, spot: 4 }), memory({ spot: 1 })), [[ended, 6, of]]);
  assert.deepEqual(counted(memory({ "": 3 }), memory({ spot: 3 })), []);
});

describe("a save", () => {
  type Ran = Pick<NonNullable<Memory["executors"]>, "ran" | "lifetimes">;
  const memory = (attempt: number, ran: Ran) =>
    remembered({
      driver: { ...driver, attempt, needs: [1_000, 1_408, 500, 2_048] },
      executors: { attempt, ...ran },
    });
  const sum = (all: number, lost: number): Ran => ({ ran: [all, lost] });
  const counted = (before: Memory | undefined, after: Memory) =>
    measuresOfSave(before, after, { namespace: "team-a" }).map(({ name, value, of }) => [name, value, of]);
  const usage = (node: string, all: number, lost: number) => {
    const of = { namespace: "team-a", node };
    const samples = [
      ["rekindle_executor_core_seconds_total", all * 0.5, of],
      ["rekindle_lost_core_seconds_total", lost * 0.5, of],
      ["rekindle_executor_gib_seconds_total", all * 2, of],
      ["rekindle_lost_gib_seconds_total", lost * 2, of],
    ] as const;
    return samples.filter(([, value]) => value > 0);
  };

  test("counts the core-seconds and GiB-seconds of executors that have ended since the save before", () => {
    assert.deepEqual(counted(undefined, memory(1, sum(100, 60))), usage("", 100, 60));
    assert.deepEqual(counted(memory(1, sum(100, 60)), memory(1, sum(200, 60))), usage("", 100, 0));
    assert.deepEqual(counted(memory(1, sum(100, 60)), memory(2, sum(100, 60))), usage("", 100, 60));
    assert.deepEqual(counted(memory(1, sum(100, 60)), memory(1, sum(100, 60))), []);
  });

  test("counts them by node where the record keeps their lifetimes, each once", () => {
    const first: NonNullable<Ran["lifetimes"]>[number] = [1, 0, 10, 70, "spot-1", "node"];
    const before = { ran: [60, 60], lifetimes: [first] } satisfies Ran;
    const after = { ran: [190, 60], lifetimes: [first, [2, 0, 0, 100, "n2", "finished"]] } satisfies Ran;
    assert.deepEqual(counted(undefined, memory(1, before)), usage("spot-1", 60, 60));
    assert.deepEqual(counted(memory(1, before), memory(1, after)), [...usage("n2", 100, 0), ...usage("", 30, 0)]);
  });
});
