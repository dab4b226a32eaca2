/**
 * Schedules on a whole host: runs start on time, by the record alone when all timers are lost, and end with the
 * schedule.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { crds } from "../../support/crds.ts";
import { application, schedule, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const runs = (stand: Stand): readonly Stored[] => stand.all("SparkApplication");
const own = (stand: Stand): Stored | undefined => stand.get("ScheduledSparkApplication", "often");

/** Returns the times in the names of the runs. */
const times = (stand: Stand): readonly string[] =>
  runs(stand)
    .map(({ metadata }) => new Date(Number(metadata.name.slice(-19, -9)) * 1_000).toISOString().slice(11, 19))
    .sort();

/** Returns scripts by which the runs of these times never end. */
const hanging = (...of: readonly string[]) =>
  Object.fromEntries(
    of.map((time) => [`often-${Date.parse(`2026-11-02T${time}Z`) / 1_000}000000000`, [{ hangs: true }]]),
  );

const keep = { successfulRunHistoryLimit: 9 };

const it = itOnStand();

describe("a schedule", () => {
  itOnStand({ scripts: hanging("08:03:00", "08:06:00") })(
    "runs twice beside each other, has upstream's status, and keeps the configured number of runs",
    async (stand) => {
      await stand.host();
      await stand.create(schedule("often", { schedule: "*/3 * * * *", concurrencyPolicy: "Allow" }));
      await stand.until("two run", () => runs(stand).filter((run) => stateOf(run) === "RUNNING").length === 2, 400_000);
      assert.deepEqual(times(stand), ["08:03:00", "08:06:00"]);
      const shown = ["scheduleState", "lastRun", "lastRunName", "nextRun"].map((field) => statusOf(own(stand), field));
      const [, last] = runs(stand)
        .map(({ metadata }) => metadata.name)
        .sort();
      assert.deepEqual(shown, ["Scheduled", "2026-11-02T08:06:00Z", last, "2026-11-02T08:09:00Z"]);
    },
  );

  it("deletes old runs, and lists the kept ones", async (stand) => {
    await stand.host();
    await stand.create(schedule("often", { schedule: "* * * * *" }));
    await stand.turn(200_000);
    const done = runs(stand).filter((run) => stateOf(run) === "COMPLETED");
    assert.deepEqual([times(stand).at(-1), done.length], ["08:03:00", 1]);
    assert.deepEqual(statusOf(own(stand), "pastSuccessfulRunNames"), [done[0]?.metadata.name]);
  });

  it("continues in the next host from its record, and catches up once on missed times", async (stand) => {
    const first = await stand.host();
    await stand.create(schedule("often", { schedule: "*/5 * * * *", ...keep }));
    await stand.turn(301_000);
    await first.drain(0);
    await stand.pass(0.5);
    assert.deepEqual(times(stand), ["08:05:00"]);
    await stand.host();
    await stand.turn(1_000);
    assert.deepEqual(times(stand), ["08:05:00", "08:10:00"]);
    await stand.turn(300_000);
    assert.deepEqual(times(stand), ["08:05:00", "08:10:00", "08:40:00"]);
  });

  it("runs on time although the next time is beyond the longest timer", async (stand) => {
    await stand.host();
    await stand.create(schedule("often", { schedule: "0 10 * * *" }));
    await stand.pass(1.99);
    assert.deepEqual(times(stand), []);
    await stand.turn(60_000);
    assert.deepEqual(times(stand), ["10:00:00"]);
    assert.equal(statusOf(own(stand), "lastRun"), "2026-11-02T10:00:00Z");
  });

  itOnStand({ scripts: hanging("08:01:00") })("that is deleted deletes its runs", async (stand) => {
    await stand.host();
    await stand.create(schedule("often", { schedule: "*/1 * * * *" }));
    await stand.until("it runs", () => runs(stand).some((run) => stateOf(run) === "RUNNING"), 90_000);
    await stand.remove("ScheduledSparkApplication", "often");
    await stand.pass(0.2);
    assert.deepEqual([...runs(stand), ...stand.all("Pod"), ...stand.all("Checkpoint")], []);
  });

  it("that waits causes no write", async (stand) => {
    await stand.host();
    await stand.create(schedule("often", { schedule: "0 0 1 1 *" }));
    await stand.turn(5_000);
    const before = stand.writes().length;
    await stand.pass(1);
    assert.deepEqual(stand.writes().slice(before), []);
  });
});

describe("a cluster without schedules", () => {
  const isSchedule = (crd: unknown): boolean => JSON.stringify(crd).includes('"plural":"scheduledsparkapplications"');
  itOnStand({ crds: crds.filter((crd) => !isSchedule(crd)) })(
    "runs other kinds, and runs its schedules once they can be listed",
    async (stand) => {
      const host = await stand.host();
      await stand.until("it is ready", () => host.ready(), 5_000);
      await stand.pass(0.5);
      const warnings = stand.lines.filter(({ level }) => level === "warn" || level === "error");
      assert.deepEqual(warnings, []);
      await stand.create(application("app"));
      await stand.until("it completes", () => stateOf(stand.get("SparkApplication", "app")) === "COMPLETED");
      for (const crd of crds.filter(isSchedule)) await stand.create(crd);
      await stand.create(schedule("often", { schedule: "@every 20s" }));
      await stand.until("it has run", () => stand.all("SparkApplication").length > 1, 90_000);
    },
  );
});
