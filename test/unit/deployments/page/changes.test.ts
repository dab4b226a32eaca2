/** The changes of an application's spec on its page: each names the first attempt that began with it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RecordView } from "../../../../shared/cli/inspection/record.ts";
import { changesIn } from "../../../../shared/deployments/page/changes.ts";

const start = 1_700_000_000_000;

const recordWith = (...at: readonly number[]): RecordView => ({
  ...{ schema: 1, uid: "u", saves: 1, memory: {} },
  specs: { generation: 1, spec: '{"a":1}', changes: at.map((ms) => [ms, '{"a":0}']) },
});

const began = (attempt: number, at: number) => ({ state: "SUBMITTED", attempt, at, group: "submitted" as const });

const attemptsOf = (changedAt: number, ...history: Parameters<typeof changesIn>[1]) =>
  changesIn(recordWith(changedAt), history).map(({ attempt }) => attempt);

describe("a change of the spec", () => {
  test("names the first attempt after it, also within the second in which the attempt before it began", () => {
    assert.deepEqual(attemptsOf(start + 500, began(1, start + 300), began(2, start + 900)), [2]);
    assert.deepEqual(attemptsOf(start + 500, began(1, start + 300), began(1, start + 700), began(2, start + 900)), [2]);
  });

  test("names no attempt until one began with it", () => {
    assert.deepEqual(attemptsOf(start + 500, began(1, start + 300), began(1, start + 700)), [undefined]);
  });

  test("before any attempt names the first", () => {
    assert.deepEqual(attemptsOf(start + 100, began(1, start + 300)), [1]);
  });
});
