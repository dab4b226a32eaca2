/** Tests the judgement of executors against the quota that Kueue has reserved. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Change, judge } from "./quota-record.ts";

const app = "etl";

const quota = (version: number, name: string, executors: number): Change => ({
  ...{ of: "quota", version, name, app, executors },
  isGrowth: name !== "base",
});

const executor = (version: number, name: string, lives = true, isGated = false): Change => ({
  ...{ of: "executor", version, name, app, lives, isGated },
});

describe("the judgement of executors within their quota", () => {
  test("replays changes by their versions, in whichever order they were heard", () => {
    const heard = [executor(2, "e1"), executor(4, "e2"), quota(1, "base", 1), quota(3, "grow", 1)];
    assert.deepEqual(judge(heard, app), { mostExecutors: 2, growths: 1, faults: [] });
  });

  test("finds an executor before its quota, and one that outlives its quota", () => {
    const early = [quota(1, "base", 1), executor(2, "e1"), executor(3, "e2"), quota(4, "grow", 1)];
    assert.deepEqual(judge(early, app).faults, ["3: 2 executors, quota for 1"]);
    const late = [quota(1, "grow", 1), executor(2, "e1"), quota(3, "grow", 0), executor(4, "e1", false)];
    assert.deepEqual(judge(late, app).faults, ["3: 1 executors, quota for 0"]);
  });

  test("finds a gated executor", () => {
    assert.deepEqual(judge([quota(1, "base", 1), executor(2, "e1", true, true)], app).faults, ["e1 is gated"]);
  });

  test("does not count what another application has", () => {
    const others = { ...quota(1, "base", 5), app: "other" };
    assert.deepEqual(judge([others, executor(2, "e1")], app).faults, ["2: 1 executors, quota for 0"]);
  });
});
