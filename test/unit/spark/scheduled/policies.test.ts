/** Concurrency policies, and the ended runs that are kept. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timingOf } from "../../../../shared/kube/history.ts";
import { waitIn } from "../../../support/plans.ts";
import { at, planned, run, type Spec, said, schedule, taken, timeOf, waiting } from "./fixtures.ts";

describe("the concurrency policy", () => {
  const running = run("08:00:00", "RUNNING");
  const done = run("08:00:00", "COMPLETED");
  const rows: readonly {
    readonly what: string;
    readonly policy?: string;
    readonly runs: readonly Stored[];
    readonly want: readonly string[];
    readonly next?: string;
  }[] = [
    { what: "that is unset means Allow", runs: [running], want: ["create 09:00:00"] },
    { what: "that is empty means Allow", policy: "", runs: [running], want: ["create 09:00:00"] },
    { what: "Allow starts a run beside others", policy: "Allow", runs: [running], want: ["create 09:00:00"] },
    { what: "Forbid skips this time", policy: "Forbid", runs: [running], want: [] },
    {
      what: "Forbid skips this time for any live run, not only the newest",
      policy: "Forbid",
      runs: [done, run("07:00:00", "")],
      want: [],
    },
    { what: "Forbid starts a run after a completed run", policy: "Forbid", runs: [done], want: ["create 09:00:00"] },
    {
      what: "Forbid starts a run after a failed run",
      policy: "Forbid",
      runs: [run("08:00:00", "FAILED")],
      want: ["create 09:00:00"],
    },
    {
      what: "Replace deletes the live run, then starts the next one",
      policy: "Replace",
      runs: [running],
      want: ["delete 08:00:00 at 7", "create 09:00:00"],
    },
    { what: "Replace leaves an ended run alone", policy: "Replace", runs: [done], want: ["create 09:00:00"] },
    {
      what: "Replace leaves a run that is being deleted alone",
      policy: "Replace",
      runs: [run("08:00:00", "RUNNING", { deletionTimestamp: "2026-11-02T08:59:00Z" })],
      want: ["create 09:00:00"],
    },
    {
      what: "Replace leaves a run of another owner alone",
      policy: "Replace",
      runs: [run("08:00:00", "RUNNING", { ownerReferences: [] })],
      want: ["create 09:00:00"],
    },
  ];
  for (const { what, policy, runs, want } of rows) {
    test(what, () => {
      const object = schedule(policy === undefined ? {} : { concurrencyPolicy: policy });
      const plan = planned({ object, memory: waiting, now: at("09:00:00"), runs });
      assert.deepEqual([said(plan), timeOf(plan.memory.nextRun)], [want, "10:00:00"]);
    });
  }

  test("runs beyond the limit are deleted before the next one is created, which a quota may refuse", () => {
    const object = schedule({ successfulRunHistoryLimit: 0 });
    const runs = [run("08:00:00", "COMPLETED")];
    const plan = planned({ object, memory: waiting, now: at("09:00:00"), runs });
    assert.deepEqual(said(plan), ["delete 08:00:00 at 7", "create 09:00:00"]);
  });

  test("Replace deletes the live run in the next step if the step died after its save", () => {
    const object = schedule({ concurrencyPolicy: "Replace" });
    const runs = [run("08:00:00", "RUNNING")];
    const { memory } = planned({ object, memory: waiting, now: at("09:00:00"), runs });
    const plan = planned({ object, memory, now: at("09:00:30"), runs });
    assert.deepEqual(said(plan), ["delete 08:00:00 at 7", "create 09:00:00"]);
    const both = planned({ object, memory, now: at("09:00:40"), runs: [...runs, run("09:00:00", "RUNNING")] });
    assert.deepEqual(said(both), ["delete 08:00:00 at 7"]);
    const alone = planned({ object, memory: both.memory, now: at("09:00:50"), runs: [run("09:00:00", "RUNNING")] });
    assert.deepEqual(
      [said(alone), both.memory.lastRun?.replaces, alone.memory.lastRun?.replaces],
      [[], true, undefined],
    );
  });

  test("Replace after Allow deletes no run before the next time", () => {
    const object = schedule({ concurrencyPolicy: "Replace" });
    const runs = ["06:00:00", "07:00:00"].map((time) => run(time, "RUNNING"));
    assert.deepEqual(
      said(planned({ object, memory: { ...waiting, lastRun: taken("07:00:00") }, now: at("08:30:00"), runs })),
      [],
    );
  });

  test("Replace waits 16 s before it deletes a run whose creation may still arrive", () => {
    const object = schedule({ concurrencyPolicy: "Replace", schedule: "@every 5s" });
    const memory = { timing: timingOf(object), nextRun: at("09:00:05"), lastRun: taken("09:00:00") };
    const given = { object, memory, runs: [run("09:00:00", "RUNNING")] };
    const early = planned({ ...given, now: at("09:00:05") });
    assert.deepEqual([said(early), timeOf(waitIn(early).wakeAt), early.memory], [[], "09:00:16", memory]);
    assert.deepEqual(said(planned({ ...given, now: at("09:00:16") })), ["delete 09:00:00 at 7", "create 09:00:05"]);
  });
});

describe("the history of runs", () => {
  const good = ["05:00:00", "06:00:00", "07:00:00"].map((time) => run(time, "COMPLETED"));
  const bad = ["04:00:00", "03:00:00"].map((time) => run(time, "FAILED"));
  const rows: readonly {
    readonly what: string;
    readonly spec: Spec;
    readonly gone: string;
    readonly kept: readonly [number, number];
  }[] = [
    { what: "one of each by default", spec: {}, gone: "06, 05, 03", kept: [1, 1] },
    {
      what: "as many as its limits",
      spec: { successfulRunHistoryLimit: 2, failedRunHistoryLimit: 5 },
      gone: "05",
      kept: [2, 2],
    },
    {
      what: "none for limits of 0",
      spec: { successfulRunHistoryLimit: 0, failedRunHistoryLimit: 0 },
      gone: "07, 06, 05, 04, 03",
      kept: [0, 0],
    },
    {
      what: "none for a negative limit",
      spec: { successfulRunHistoryLimit: -3 },
      gone: "07, 06, 05, 03",
      kept: [0, 1],
    },
  ];
  for (const { what, spec, gone, kept } of rows) {
    test(`keeps ${what}`, () => {
      const plan = planned({ object: schedule(spec), memory: waiting, now: at("08:30:00"), runs: [...good, ...bad] });
      const deleted = said(plan)
        .join()
        .replaceAll(/delete (\d\d):00:00 at 7/g, "$1");
      const names = ["pastSuccessfulRunNames", "pastFailedRunNames"].map(
        (field) => [plan.status?.[field] ?? []].flat().length,
      );
      assert.deepEqual([deleted, names], [gone, kept]);
    });
  }

  test("deletes a run at the earliest 16 s after its creation", () => {
    const runs = [run("08:29:50", "COMPLETED"), run("08:29:55", "COMPLETED")];
    const early = planned({ memory: waiting, now: at("08:30:00"), runs });
    assert.deepEqual([said(early), timeOf(waitIn(early).wakeAt)], [[], "08:30:06"]);
    assert.deepEqual(said(planned({ memory: waiting, now: at("08:30:06"), runs })), ["delete 08:29:50 at 7"]);
  });
});
