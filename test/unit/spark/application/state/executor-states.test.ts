/** Executor states in the status: of existing pods, of pods that are gone, and of too many. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Phase } from "../../../../../shared/spark/application/state/memory.ts";
import { endsShownIn, executorStates, shownExecutors } from "../../../../../shared/spark/application/state/status.ts";
import { application, driver, pod } from "../fixtures.ts";

const executor = (id: number, phase: string) =>
  pod({ name: `exec-${id}`, uid: `uid-${id}`, role: "executor", executor: id, phase });

const told = (pods: readonly Stored[], before: Readonly<Record<string, string>>, phase: Phase) =>
  executorStates(pods, before, { phase, limit: 1_000, ends: new Map(), endShown: () => false });

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

  const named = (id: number, phase: string) =>
    pod({ name: `p-exec-${id}`, uid: `uid-${id}`, role: "executor", executor: id, phase });
  const within = (limit: number, pods: readonly Stored[], before: Readonly<Record<string, string>>, over = "") =>
    executorStates(pods, before, { phase: "RUNNING", limit, ends: new Map(), endShown: endsShownIn({ over }) });
  const ofIds = (from: number, to: number, state: string) =>
    Object.fromEntries(Array.from({ length: to - from + 1 }, (_, at) => [`p-exec-${from + at}`, state]));
  const living = [4, 5, 6, 7].map((id) => named(id, "Running"));

  test("leave the status when they have ended, the oldest first: the living stay, also beyond the limit", () => {
    const before = ofIds(1, 3, "COMPLETED");
    assert.deepEqual(within(5, living, before), { ...ofIds(3, 3, "COMPLETED"), ...ofIds(4, 7, "RUNNING") });
    assert.deepEqual(within(3, living, before), ofIds(4, 7, "RUNNING"));
  });

  test("leave the status when their pods are gone, after those that have ended", () => {
    const before = { ...ofIds(1, 1, "UNKNOWN"), ...ofIds(2, 2, "COMPLETED") };
    assert.deepEqual(within(5, living, before), { ...ofIds(1, 1, "UNKNOWN"), ...ofIds(4, 7, "RUNNING") });
    assert.deepEqual(within(4, living, before), ofIds(4, 7, "RUNNING"));
  });

  test("leave the status only after it showed their end, from which events and counters follow", () => {
    const pods = [named(4, "Failed"), ...living.slice(1)];
    const first = within(3, pods, { ...ofIds(4, 7, "RUNNING") }, "1-4");
    assert.deepEqual(first, { ...ofIds(4, 4, "FAILED"), ...ofIds(5, 7, "RUNNING") });
    assert.deepEqual(within(3, pods, first, "1-4"), ofIds(5, 7, "RUNNING"));
  });

  test("do not come back when their pods are kept", () => {
    const pods = [named(4, "Failed"), ...living.slice(1)];
    assert.deepEqual(within(3, pods, ofIds(5, 7, "RUNNING"), "1-4"), ofIds(5, 7, "RUNNING"));
    const unshown = { over: "1-4", ends: { FAILED: "4" } };
    const shown = { phase: "RUNNING", limit: 3, ends: new Map(), endShown: endsShownIn(unshown) } as const;
    assert.equal(executorStates(pods, ofIds(5, 7, "RUNNING"), shown)["p-exec-4"], "FAILED");
  });

  test("are 10,000 at most: an object of the API server holds no more", () => {
    const many = Array.from({ length: 10_050 }, (_, at) => named(at + 1, "Running"));
    assert.equal(Object.keys(within(3, many, {})).length, 10_000);
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
