/** The end of an executor is reported also if its pod is deleted before the status is written. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Memory } from "../../../../../shared/spark/application/state/memory.ts";
import type { Ledger } from "../../../../../shared/spark/executors/ledger.ts";
import { executor, type Short } from "../../executors/pods.ts";
import { living, status } from "../attended.ts";
import { application, decided, driver, pod, remembered, said, spec } from "../fixtures.ts";

const finishedAt = "2026-11-02T07:59:58Z";
const done: Short = { id: 1, phase: "Succeeded", exit: 0, finishedAt };
const taken: Short = { id: 1, phase: "Failed", exit: 143, finishedAt };
const unclear: Short = { id: 1, phase: "Failed", container: null };

const shows = (state: string): Stored =>
  application({ spec, status: { ...status, executorState: { "pi-exec-1": state, "pi-exec-2": "RUNNING" } } });

const step = (object: Stored, executors: Ledger, pods: readonly Short[]) => {
  const memory: Memory = remembered({ driver, executors });
  return { memory, ...decided({ object, memory, pods: [pod(), ...pods.map(executor)] }) };
};

const stateIn = (wished: unknown): unknown => Object(Object(wished).executorState)["pi-exec-1"];
const two: Short = { id: 2 };

describe("the end of an executor", () => {
  const rows = [
    { why: "that finished", one: done, ends: { COMPLETED: "1" }, tells: "COMPLETED" },
    { why: "that was terminated", one: taken, ends: { FAILED: "1" }, tells: "FAILED" },
  ] as const;
  for (const { why, one, ends, tells } of rows)
    test(`${why} is saved before its pod is deleted, and a later step writes it into the status`, () => {
      const { plan, before } = step(shows("RUNNING"), living([1, 2]), [one, two]);
      const does = [...before, ...plan.stages.flat()].map(said);
      assert.ok(does.some((line) => line.startsWith("delete pods pi-exec-1")));
      assert.deepEqual(plan.memory.executors?.ends, ends);
      const { plan: next, memory } = step(shows("RUNNING"), plan.memory.executors ?? living([]), [two]);
      assert.equal(stateIn(next.status), tells);
      assert.deepEqual(next.memory.executors?.ends, memory.executors?.ends);
    });

  test("needs no further save when the status has it", () => {
    const ledger = living([2], { over: "1", ends: { COMPLETED: "1" } });
    const { plan, memory } = step(shows("COMPLETED"), ledger, [two]);
    assert.deepEqual(plan.memory.executors, memory.executors);
  });

  test("leaves the record with the next save when the status has it", () => {
    const ledger = living([2, 3], { over: "1", ends: { COMPLETED: "1" } });
    const { plan } = step(shows("COMPLETED"), ledger, [two, { ...done, id: 3 }]);
    assert.deepEqual(plan.memory.executors?.ends, { COMPLETED: "3" });
  });

  test("is not saved without a terminated container", () => {
    const { plan } = step(shows("RUNNING"), living([1, 2]), [unclear, two]);
    assert.equal(plan.memory.executors?.ends, undefined);
  });

  test("is saved for an executor of any id, because the status shows each end once", () => {
    const { plan } = step(shows("RUNNING"), living([1, 2]), [{ ...done, id: 1_001 }, two]);
    assert.deepEqual(plan.memory.executors?.ends, { COMPLETED: "1001" });
  });

  test("is not saved again when the status showed it, and names the executor no longer", () => {
    const { plan, memory } = step(shows("RUNNING"), living([2], { over: "7" }), [{ ...done, id: 7 }, two]);
    assert.deepEqual(plan.memory.executors?.ends, memory.executors?.ends);
  });

  test("of another run does not count for this run", () => {
    const ledger: Ledger = { attempt: 7, over: "1", ends: { COMPLETED: "1" } };
    const { plan } = step(shows("RUNNING"), ledger, [two]);
    assert.equal(stateIn(plan.status), "UNKNOWN");
  });

  test("is saved when the run ends", () => {
    const over = pod({ phase: "Failed", exitCode: 1, finishedAt: "2026-11-02T07:59:59Z" });
    const memory = remembered({ driver, executors: living([1]) });
    const { plan } = decided({ object: shows("RUNNING"), memory, pods: [over, executor(done)] });
    assert.deepEqual(plan.memory.executors?.ends, { COMPLETED: "1" });
  });
});
