/** The due time of a CronJob's schedule: as a search minute by minute finds it, in few looks at the clock. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nextAfter, readSchedule, type Schedule } from "../../../../shared/core/cron.ts";
import { recentOf } from "../../../../shared/volcano/cron/read.ts";
import { openChance } from "../../../proof/sweep/chance.ts";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

const scheduleOf = (text: string, timeZone = ""): Schedule => {
  const read = readSchedule(text, timeZone);
  if (!read.ok) throw new Error(read.error);
  return read.schedule;
};

/** The last time up to `now`, one after the other. */
const oneByOne = (schedule: Schedule, after: number, now: number): number | undefined => {
  let last: number | undefined;
  for (let next = nextAfter(schedule, after); next !== undefined && next <= now; next = nextAfter(schedule, next))
    last = next;
  return last;
};

/** The schedule, and how often it asked for a local time. */
const counted = (text: string, timeZone: string): { schedule: Schedule; looks: () => number } => {
  const schedule = scheduleOf(text, timeZone);
  let looks = 0;
  if (schedule.is === "every") return { schedule, looks: () => looks };
  const { zone } = schedule;
  const counting: Schedule = {
    ...schedule,
    zone: (at) => {
      looks += 1;
      return zone(at);
    },
  };
  return { schedule: counting, looks: () => looks };
};

describe("the due time", () => {
  test("is the last time of the schedule up to now, if upstream's estimate reaches back to it", () => {
    const chance = openChance("due");
    const texts = [
      "* * * * *",
      "*/7 * * * *",
      "0 */5 * * *",
      "30 2 * * *",
      "0 0 * * 1",
      "15 4 1 * *",
      "* 9-17 * * 1-5",
    ];
    for (let nth = 0; nth < 60; nth += 1) {
      const schedule = scheduleOf(chance.pick(texts), chance.pick(["", "Europe/Berlin", "America/New_York"]));
      const after = Date.UTC(2026, 0, 1) + chance.below(300) * dayMs + chance.below(1_440) * minuteMs;
      const now = after + chance.below(4) * dayMs + chance.below(1_440) * minuteMs + chance.below(60_000);
      const { mostRecent } = recentOf(schedule, { after, now });
      if (mostRecent !== undefined) assert.equal(mostRecent, oneByOne(schedule, after, now));
    }
  });

  const gaps: readonly (readonly [text: string, after: number, now: number])[] = [
    ["* * * 1-6 *", Date.UTC(2025, 5, 30, 23, 58), Date.UTC(2026, 5, 30, 23, 59)],
    ["* * * 2 *", Date.UTC(2025, 1, 28, 23, 58), Date.UTC(2026, 1, 28, 23, 59)],
    ["* * * * 1", Date.UTC(2026, 10, 2, 23, 58), Date.UTC(2026, 10, 9, 23, 59)],
  ];
  for (const [text, after, now] of gaps)
    test(`of ${text}, a gap and then a time in each minute, needs few local times`, () => {
      const { schedule, looks } = counted(text, "");
      const { mostRecent } = recentOf(schedule, { after, now });
      assert.ok(mostRecent !== undefined && mostRecent <= now && now - mostRecent < dayMs);
      assert.ok(looks() < 20_000, `${looks()}`);
    });

  test("of a schedule without a valid date needs few local times", () => {
    const { schedule, looks } = counted("0 0 31 2 *", "Europe/Berlin");
    assert.equal(nextAfter(schedule, Date.UTC(2026, 10, 2)), undefined);
    assert.ok(looks() < 3_000, `${looks()}`);
  });
});
