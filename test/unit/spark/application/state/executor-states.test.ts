/** Executor states in the status: of existing pods, of pods that are gone, and of too many. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Phase } from "../../../../../shared/spark/application/state/memory.ts";
import { executorStates, shownExecutors } from "../../../../../shared/spark/application/state/status.ts";
import { application, driver, pod } from "../fixtures.ts";

const executor = (id: number, phase: string) =>
  pod({ name: `exec-${id}`, uid: `uid-${id}`, role: "executor", executor: id, phase });

const told = (pods: readonly Stored[], before: Readonly<Record<string, string>>, phase: Phase) =>
  executorStates(pods, before, { phase, limit: 1_000, ends: new Map() });

describe("an executor", () => {
  const there = [
    { phase: "Pending", want: "PENDING" },
    { phase: "Running", want: "RUNNING" },
    { phase: "Succeeded", want: "COMPLETED" },
    { phase: "Failed", want: "FAILED" },
    { phase: "Unknown", want: "UNKNOWN" },
    { phase: "", want: "UNKNOWN" },
  ];
  for (const { phase, want } of there) {
    test(`whose pod is ${phase || "of no phase"} is ${want}`, () => {
      assert.deepEqual(told([executor(1, phase)], { "exec-1": "PENDING" }, "RUNNING"), { "exec-1": want });
    });
  }

  const gone: readonly { phase: Phase; before: string; want: string }[] = [
    ...(["PENDING", "RUNNING", "UNKNOWN"] as const).flatMap((before) => [
      ...(["SUBMITTED", "RUNNING", "UNKNOWN"] as const).map((phase) => ({ phase, before, want: "UNKNOWN" })),
      { phase: "SUCCEEDING" as const, before, want: "COMPLETED" },
      { phase: "COMPLETED" as const, before, want: "COMPLETED" },
      { phase: "FAILING" as const, before, want: "FAILED" },
      { phase: "FAILED" as const, before, want: "FAILED" },
      { phase: "SUSPENDING" as const, before, want: "FAILED" },
    ]),
    { phase: "RUNNING", before: "COMPLETED", want: "COMPLETED" },
    { phase: "FAILED", before: "COMPLETED", want: "COMPLETED" },
    { phase: "COMPLETED", before: "FAILED", want: "FAILED" },
  ];
  for (const { phase, before, want } of gone) {
    test(`that was ${before} and is gone is ${want} when the application is ${phase}`, () => {
      assert.deepEqual(told([], { "exec-1": before }, phase), { "exec-1": want });
    });
  }
});

test("an executor that a stale list lacks is RUNNING again with the next list", () => {
  const during = told([], { "exec-1": "RUNNING" }, "SUBMITTED");
  assert.deepEqual(told([executor(1, "Running")], during, "RUNNING"), { "exec-1": "RUNNING" });
});

describe("many executors", () => {
  test("appear in the status by name, in every order of the list", () => {
    const states = told([executor(2, "Running"), executor(1, "Failed")], { "exec-0": "COMPLETED" }, "RUNNING");
    assert.deepEqual(Object.keys(states), ["exec-0", "exec-1", "exec-2"]);
  });

  test("appear in the status up to a thousand, by id", () => {
    const pods = Array.from({ length: 1_200 }, (_, index) => executor(1_200 - index, "Running"));
    const states = told(pods, {}, "RUNNING");
    assert.deepEqual(
      [Object.keys(states).length, states["exec-1000"], states["exec-1001"]],
      [1_000, "RUNNING", undefined],
    );
  });

  test("without a valid id are left out", () => {
    const odd = pod({ name: "odd", role: "executor", executor: Number.NaN });
    assert.deepEqual(told([odd], {}, "RUNNING"), {});
  });
});

describe("the states in a status", () => {
  const shownIn = (executorState: unknown) =>
    shownExecutors(application({ status: { submissionID: driver.submissionId, executorState } }), driver);

  test("are those of this submission's executors", () => {
    assert.deepEqual(shownIn({ "p-exec-1": "RUNNING" }), { "p-exec-1": "RUNNING" });
    assert.deepEqual(
      shownExecutors(application({ status: { submissionID: "s", executorState: { a: "b" } } }), driver),
      {},
    );
  });

  for (const [what, states] of [
    ["a number", { "p-exec-1": 1 }],
    ["null", { "p-exec-1": "RUNNING", "p-exec-2": null }],
  ] as const)
    test(`are none if another controller wrote ${what} as one of them`, () => {
      assert.deepEqual(shownIn(states), {});
    });
  for (const states of [["RUNNING"], "RUNNING", 1, null])
    test(`are none if they are ${JSON.stringify(states)}`, () => {
      assert.deepEqual(shownIn(states), {});
    });
});
