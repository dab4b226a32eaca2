/** The changes of an application's spec on its page: each names the first attempt that began with it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { changesIn } from "../../../../shared/deployments/page/changes.ts";
import type { RecordView } from "../../../../shared/inspection/record.ts";

const start = 1_700_000_000;

const recordWith = (...seconds: readonly number[]): RecordView => ({
  ...{ schema: 1, uid: "u", saves: 1, memory: {} },
  specs: { generation: 1, spec: '{"a":1}', changes: seconds.map((at) => [start + at, '{"a":0}']) },
});

const passed = (state: string, attempt: number, second: number) => ({
  ...{ state, attempt, at: (start + second) * 1_000 },
  group: "running" as const,
});

const attemptsOf = (changes: readonly number[], ...history: Parameters<typeof changesIn>[1]) =>
  changesIn(recordWith(...changes), history).map(({ attempt }) => attempt);

describe("a change of the spec", () => {
  test("names the first attempt after it", () => {
    const history = [passed("RUNNING", 1, 0), passed("INVALIDATING", 1, 3), passed("SUBMITTED", 2, 13)];
    assert.deepEqual(attemptsOf([3], ...history), [2]);
  });

  test("names the next attempt, also where the one that it ended began in the same second", () => {
    const history = [passed("SUBMITTED", 1, 3), passed("RUNNING", 1, 3), passed("INVALIDATING", 1, 3)];
    assert.deepEqual(attemptsOf([3], ...history), [undefined]);
    assert.deepEqual(attemptsOf([3], ...history, passed("SUBMITTED", 2, 13)), [2]);
  });

  test("before any attempt names the first, also of the same second, and one that a later change ends", () => {
    const history = [passed("SUBMITTED", 1, 3), passed("INVALIDATING", 1, 5), passed("SUBMITTED", 2, 15)];
    assert.deepEqual(attemptsOf([2, 5], ...history), [1, 2]);
    assert.deepEqual(attemptsOf([3], passed("SUBMITTED", 1, 3)), [1]);
  });
});
