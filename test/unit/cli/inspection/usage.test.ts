/** The cost of an application from its record, as `rekindle list -o wide` shows it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RecordView } from "../../../../shared/cli/inspection/record.ts";
import { usageColumns, usageOf } from "../../../../shared/cli/inspection/usage.ts";

const hour = 3_600_000;
/** Driver: 1 core, 1 GiB; each executor: 2 cores, 4 GiB. */
const needs = [1_000, 1_024, 2_000, 4_096];

const record = (memory: object, more: Partial<RecordView> = {}): RecordView => ({
  ...{ schema: 1, uid: "u1", saves: 1, memory },
  ...more,
});

const memory = (state: object, ran: readonly number[], attempt = 1) => ({
  driver: { attempt, submittedAt: 0, needs },
  executors: { attempt, ran, lifetimes: [] },
  state,
});

const failed = (account: object, outcome = "failed") => ({
  runs: [{ attempt: 1, outcome, startedAt: 0, endedAt: hour, account }],
});

const columnsOf = (one: RecordView | undefined) => Object.values(usageColumns(usageOf(one, 2 * hour)));

describe("the cost of an application", () => {
  test("has the driver's hours and those of ended executors; lost executors are lost", () => {
    const completed = record(memory({ phase: "COMPLETED", endedAt: hour }, [7_200, 1_800]));
    assert.deepEqual(columnsOf(completed), ["5.000", "9.000", "1.000", "2.000"]);
  });

  test("of a running application counts its driver until now, and says that more will come", () => {
    assert.deepEqual(columnsOf(record(memory({ phase: "RUNNING" }, [3_600, 0]))), [
      ...["4.000+", "6.000+", "0.000", "0.000"],
    ]);
  });

  test("of a failed application is lost as a whole", () => {
    const one = record(memory({ phase: "FAILED", endedAt: hour }, [3_600, 0]));
    assert.deepEqual(columnsOf(one), ["3.000", "5.000", "3.000", "5.000"]);
  });

  test("counts an attempt that failed as lost, and of one that completed its lost executors", () => {
    const newest = memory({ phase: "COMPLETED", endedAt: hour }, [0, 0], 2);
    const account = { needs, ran: [3_600, 1_800] };
    assert.deepEqual(columnsOf(record(newest, failed(account))), ["4.000", "6.000", "3.000", "5.000"]);
    assert.deepEqual(columnsOf(record(newest, failed(account, "completed"))), ["4.000", "6.000", "1.000", "2.000"]);
  });

  test("with a run of an older version, which kept no requests, is at least the rest", () => {
    const newest = memory({ phase: "COMPLETED", endedAt: hour }, [0, 0], 2);
    assert.deepEqual(columnsOf(record(newest, failed({}))), ["1.000+", "1.000+", "0.000", "0.000"]);
  });

  test("is unknown without a record, and for a record without requests", () => {
    assert.deepEqual([columnsOf(undefined), columnsOf(record({ phase: "Running" }))], [[], []]);
  });
});
