/** Memory overhead after OOMKilled executors: the annotation, the growth, and the steps of a run. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { grownOverhead, needsMoreOverhead, overheadGrowthIn } from "../../../../shared/spark/executors/overhead.ts";
import { pod } from "../application/fixtures.ts";

const killed = (id: number, reason = "OOMKilled") => ({
  id,
  pod: pod({ role: "executor", executor: id, phase: "Failed", exitCode: 137, reason }),
});

describe("memory overhead after an OOMKilled executor", () => {
  const growth = { factor: 1.5, most: 1_000 };

  test("is read from the annotation", () => {
    assert.deepEqual(overheadGrowthIn("1.5 up to 4Gi"), { factor: 1.5, most: 4_096 });
    assert.deepEqual(overheadGrowthIn("2  up  to 512m"), { factor: 2, most: 512 });
    assert.deepEqual(overheadGrowthIn("10 up to 1t"), { factor: 10, most: 1_048_576 });
    assert.equal(overheadGrowthIn("10.1 up to 1t"), undefined);
  });

  test("grows by the factor, rounded up, up to the limit, for ids from the next on", () => {
    const first = grownOverhead(undefined, growth, { usual: 385, next: 1_003 });
    assert.deepEqual(first, { mebibytes: 578, from: 1_003 });
    const second = grownOverhead(first, growth, { usual: 385, next: 1_005 });
    assert.deepEqual(second, { mebibytes: 867, from: 1_005 });
    const third = grownOverhead(second, growth, { usual: 385, next: 1_006 });
    assert.deepEqual(third, { mebibytes: 1_000, from: 1_006 });
    assert.equal(grownOverhead(third, growth, { usual: 385, next: 1_007 }), third);
    assert.equal(grownOverhead(undefined, growth, { usual: 2_000, next: 1_003 }), undefined);
  });

  const before = { mebibytes: 578, from: 1_003 };
  const cases = [
    { why: "the first executor that is OOMKilled", before: undefined, executors: [killed(1_001)], grows: true },
    { why: "an executor with the present overhead", before, executors: [killed(1_003)], grows: true },
    { why: "executors that were created before it", before, executors: [killed(1_001), killed(1_002)], grows: false },
    { why: "a kill -9", before: undefined, executors: [killed(1_001, "Error")], grows: false },
  ] as const;
  for (const { why, before: present, executors, grows } of cases)
    test(`${grows ? "grows" : "does not grow"} for ${why}`, () =>
      assert.equal(needsMoreOverhead(present, executors), grows));
});
