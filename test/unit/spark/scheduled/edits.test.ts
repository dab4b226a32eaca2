/** A schedule that is edited, made invalid and corrected, suspended, taken over from another controller, deleted. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Plan } from "../../../../shared/core/plan.ts";
import type { Memory } from "../../../../shared/spark/scheduled/decide.ts";
import { does, waitIn } from "../../../support/plans.ts";
import {
  at,
  type Given,
  planned,
  run,
  type Spec,
  said,
  schedule,
  stateOf,
  taken,
  timeOf,
  waiting,
} from "./fixtures.ts";

describe("a changed spec of a schedule", () => {
  const changed = (spec: Spec, given: Partial<Given> = {}): Plan<Memory> =>
    planned({
      object: schedule(spec),
      memory: { ...waiting, lastRun: taken("08:00:00") },
      now: at("08:10:00"),
      ...given,
    });

  test("with another schedule counts from now, without runs for missed times", () => {
    const plan = changed({ schedule: "*/15 * * * *" }, { now: at("09:20:00") });
    assert.deepEqual([said(plan), timeOf(plan.memory.nextRun)], [[], "09:30:00"]);
  });

  test("with another time zone counts from now", () => {
    assert.equal(timeOf(changed({ schedule: "0 18 * * *", timeZone: "Asia/Tokyo" }).memory.nextRun), "09:00:00");
  });

  test("leads to no second run for a past time, even if the server's clock is behind", () => {
    const plan = changed({ schedule: "0 * * * 1-5" }, { now: at("07:59:59") });
    assert.equal(timeOf(plan.memory.nextRun), "09:00:00");
  });

  test("with another concurrency policy keeps its times", () => {
    assert.deepEqual(changed({ concurrencyPolicy: "Forbid" }).memory.nextRun, waiting.nextRun);
  });

  test("with suspend true starts no run and rests", () => {
    const plan = changed({ suspend: true }, { now: at("09:20:00") });
    assert.deepEqual(
      [said(plan), does(plan, "rest"), waitIn(plan).wakeAt, waitIn(plan).waitsFor],
      [[], true, undefined, "spec.suspend to become false"],
    );
    assert.equal(plan.status?.["nextRun"], "2026-11-02T09:00:00Z");
  });

  test("with suspend true does not rest while a run is running", () => {
    const going = { now: at("09:20:00"), runs: [run("08:00:00", "RUNNING")] };
    assert.equal(does(changed({ suspend: true }, going), "rest") ?? false, false);
    const ended = { now: at("09:20:00"), runs: [run("08:00:00", "COMPLETED")] };
    assert.equal(does(changed({ suspend: true }, ended), "rest"), true);
  });

  test("with suspend false starts one run for the missed times", () => {
    const plan = changed({ suspend: false }, { now: at("13:20:00") });
    assert.deepEqual([said(plan), timeOf(plan.memory.nextRun)], [["create 09:00:00"], "14:00:00"]);
  });

  const wrong: readonly (readonly [what: string, spec: Spec, reason: RegExp])[] = [
    ["schedule", { schedule: "61 * * * *" }, /^spec.schedule: minute "61" is above 59$/],
    ["empty schedule", { schedule: "" }, /^spec.schedule: the schedule is empty$/],
    ["schedule of another type", { schedule: 5 }, /^spec.schedule must be a string/],
    ["time that never comes", { schedule: "0 0 30 2 *" }, /names no time that ever comes/],
    ["time zone", { timeZone: "Mars" }, /^Invalid timezone: unknown time zone Mars$/],
    [
      "policy",
      { concurrencyPolicy: "forbid" },
      /^spec.concurrencyPolicy must be Allow, Forbid or Replace, not "forbid"$/,
    ],
    ["template", { template: "none" }, /^spec.template must be an object/],
    ["limit", { failedRunHistoryLimit: "3" }, /^spec.failedRunHistoryLimit must be a number, not a string/],
  ];
  for (const [what, spec, reason] of wrong) {
    test(`with an invalid ${what} leads to an Event and no run; a corrected spec continues`, () => {
      const plan = changed(spec, { now: at("09:20:00"), runs: [run("08:00:00", "RUNNING")] });
      assert.match(String(plan.status?.["reason"]), reason);
      assert.deepEqual(
        [said(plan), stateOf(plan), does(plan, "rest")],
        [["tell ScheduledSparkApplicationFailedValidation"], "FailedValidation", true],
      );
      const told = planned({
        object: schedule(spec, { status: plan.status }),
        memory: plan.memory,
        now: at("09:21:00"),
      });
      assert.deepEqual([said(told).join(), told.status], ["", plan.status]);
      const mended = planned({ memory: plan.memory, now: at("09:25:00") });
      assert.deepEqual(
        [stateOf(mended), timeOf(waitIn(mended).wakeAt), mended.status?.["reason"]],
        ["Scheduled", "10:00:00", undefined],
      );
    });
  }

  test("leads to an error in the status if the name is too long for the names of runs", () => {
    const object = schedule({}, { metadata: { ...schedule().metadata, name: "n".repeat(53) } });
    assert.match(
      String(planned({ object, now: at("08:00:00") }).status?.["reason"]),
      /53 characters long.*shorten it to 52/,
    );
  });
});

describe("a schedule without a record", () => {
  const shown = (status: unknown, now = at("08:30:00")): Plan<Memory> =>
    planned({ object: schedule({}, { status }), now });

  test("continues from the status of another controller", () => {
    const last = { lastRun: "2026-11-02T08:00:01Z", lastRunName: "nightly-1" };
    const plan = shown({ scheduleState: "Scheduled", nextRun: "2026-11-02T09:00:00Z", ...last });
    assert.deepEqual(
      [said(plan), timeOf(waitIn(plan).wakeAt), plan.status?.["lastRunName"]],
      [[], "09:00:00", "nightly-1"],
    );
  });

  test("starts the run of a missed nextRun in its status", () => {
    assert.deepEqual(said(shown({ scheduleState: "Scheduled", nextRun: "2026-11-02T08:15:00Z" })), ["create 08:15:00"]);
  });

  test("recovers from FailedValidation, which upstream never leaves", () => {
    const plan = shown({ scheduleState: "FailedValidation", reason: "bad", nextRun: "2026-11-02T08:15:00Z" });
    assert.deepEqual([stateOf(plan), timeOf(waitIn(plan).wakeAt)], ["Scheduled", "09:00:00"]);
  });

  test("computes its next time if its status is invalid", () => {
    assert.equal(timeOf(waitIn(shown({ nextRun: 5 })).wakeAt), "09:00:00");
  });
});

describe("the end of a schedule", () => {
  test("leads to no effects, as its runs are garbage-collected by their owner", () => {
    const plan = planned({ object: undefined, memory: waiting, now: at("09:00:00") });
    assert.deepEqual([said(plan), does(plan, "forget")], [[], true]);
  });

  test("leads to no run while it is being deleted", () => {
    const metadata = { ...schedule().metadata, deletionTimestamp: "2026-11-02T08:59:00Z" };
    const plan = planned({ object: schedule({}, { metadata }), memory: waiting, now: at("09:00:00") });
    assert.deepEqual([said(plan), plan.status], [[], undefined]);
  });
});
