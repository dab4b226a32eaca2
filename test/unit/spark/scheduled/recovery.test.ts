/** Recovery of schedules and Connect servers, whose memories are small. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { timingOf } from "../../../../shared/kube/history.ts";
import { recovery as connect } from "../../../../shared/spark/connect/memory.ts";
import { recovery } from "../../../../shared/spark/scheduled/decide.ts";
import { at, key, run, schedule } from "./fixtures.ts";

const runs = [run("08:00:00", "COMPLETED"), run("09:00:00", "RUNNING"), run("07:00:00", "FAILED")];
const timing = timingOf(schedule());
const whole = { timing, nextRun: at("10:00:00"), lastRun: { name: "nightly-1", tick: 1, at: 1 } };
const newest = { name: `nightly-${at("09:00:00") / 1_000}000000000`, tick: at("09:00:00"), at: at("09:00:00") };

const rebuilt = (stored: unknown, status?: unknown) => {
  const object = schedule({}, status === undefined ? {} : { status });
  return recovery.rebuild({ key, object, found: [runs], now: at("09:30:00"), stored });
};

describe("a schedule's damaged memory", () => {
  const rows = [
    { name: "that is whole is kept", stored: whole, want: whole, problems: 0 },
    {
      name: "without its last run gets the newest existing run",
      stored: { ...whole, lastRun: 7 },
      want: { ...whole, lastRun: newest },
      problems: 1,
    },
    {
      name: "without its next time gets a newly computed time",
      stored: { ...whole, nextRun: "x" },
      want: { timing: "", lastRun: whole.lastRun },
      problems: 1,
    },
    {
      name: "that is unreadable gets the newest run and newly computed times",
      stored: 7,
      want: { timing: "", lastRun: newest },
      problems: 1,
    },
    {
      name: "that is missing gets the newest run",
      stored: undefined,
      want: { timing: "", lastRun: newest },
      problems: 0,
    },
  ];
  for (const { name, stored, want, problems } of rows)
    test(name, () => {
      const { memory, problems: found } = rebuilt(stored);
      assert.deepEqual([memory, found.length], [want, problems]);
    });

  test("keeps the next time of the status", () => {
    const status = { scheduleState: "Scheduled", nextRun: "2026-11-02T11:00:00Z" };
    assert.equal(rebuilt({ ...whole, nextRun: "x" }, status).memory.nextRun, at("11:00:00"));
  });

  test("counts only running runs as live, which an order ends", () => {
    assert.deepEqual(runs.map(recovery.isLive), [false, true, false]);
  });

  test("counts a run that is being deleted as live", () => {
    const one = run("09:00:00", "RUNNING");
    assert.ok(recovery.isLive({ ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-11-02T09:00:00Z" } }));
  });

  test("of another cluster is kept", () => assert.deepEqual(recovery.voided(whole), whole));
});

describe("a Connect server's damaged memory", () => {
  const remains = { key, object: schedule(), found: [], now: 0 };
  const rows = [
    { stored: { ends: 2, retryAt: 5 }, want: { ends: 2, retryAt: 5 } },
    { stored: { ends: "x", retryAt: 5 }, want: { ends: 0, retryAt: 5 } },
    { stored: 7, want: { ends: 0 } },
    { stored: undefined, want: { ends: 0 } },
  ];
  for (const { stored, want } of rows)
    test(JSON.stringify(stored) ?? "none", () =>
      assert.deepEqual(connect.rebuild({ ...remains, stored }).memory, want),
    );
});
