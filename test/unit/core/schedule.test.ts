/** Cron schedules: robfig/cron v3's own tables, its rule for days, and clock changes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nextAfter, readSchedule } from "../../../shared/core/cron.ts";
import { assertLinear } from "../../support/growth.ts";

const next = (text: string, from: string, zone?: string): string => {
  const read = readSchedule(text, zone);
  if (!read.ok) return read.error;
  const at = nextAfter(read.schedule, Date.parse(from));
  return at === undefined ? "never" : new Date(at).toISOString().slice(0, 16);
};

const newYork = "America/New_York";

describe("the next time of a schedule", () => {
  const rows: readonly (readonly [schedule: string, from: string, want: string, zone?: string])[] = [
    ["0/15 * * * *", "2012-07-09T14:45:00Z", "2012-07-09T15:00"],
    ["0/15 * * * *", "2012-07-09T14:59:59Z", "2012-07-09T15:00"],
    ["20-35/15 * * * *", "2012-07-09T14:45:00Z", "2012-07-09T15:20"],
    ["*/15 1-23/2 * * *", "2012-07-09T23:46:00Z", "2012-07-10T01:00"],
    ["*/15 */2 * * *", "2012-07-09T23:35:51Z", "2012-07-10T00:00"],
    ["5/15 * * * *", "2024-01-05T12:06:00Z", "2024-01-05T12:20"],
    ["0 0 9 Apr-Oct ?", "2012-07-09T23:35:00Z", "2012-08-09T00:00"],
    ["0 0 * 3 Mon", "2012-07-09T23:35:00Z", "2013-03-04T00:00"],
    ["* * * FEB,aug *", "2012-07-31T23:59:59Z", "2012-08-01T00:00"],
    ["0 0 29 2 ?", "2012-07-09T23:35:00Z", "2016-02-29T00:00"],
    ["0 0 31 * *", "2012-08-31T00:00:00Z", "2012-10-31T00:00"],
    ["0 0 31 2 *", "2012-08-31T00:00:00Z", "never"],
    ["@hourly", "2024-01-05T12:06:00Z", "2024-01-05T13:00"],
    ["@daily", "2024-01-05T12:06:00Z", "2024-01-06T00:00"],
    ["@midnight", "2024-01-05T00:00:00Z", "2024-01-06T00:00"],
    ["@weekly", "2024-01-05T12:06:00Z", "2024-01-07T00:00"],
    ["@monthly", "2024-01-05T12:06:00Z", "2024-02-01T00:00"],
    ["@yearly", "2024-01-05T12:06:00Z", "2025-01-01T00:00"],
    ["@annually", "2024-12-31T23:59:59Z", "2025-01-01T00:00"],
    ["@every 3m", "2024-01-05T12:06:31Z", "2024-01-05T12:09"],
    ["@every 1h30m", "2024-01-05T12:06:00Z", "2024-01-05T13:36"],
    ["CRON_TZ=Asia/Tokyo @every 90s", "2024-01-05T12:06:00Z", "2024-01-05T12:07"],
    // If day and weekday are both restricted, one match is enough; a star with a step restricts, a star in a list does
    // not.
    ["0 0 13 * 5", "2024-01-01T00:00:00Z", "2024-01-05T00:00"],
    ["0 0 13 * 5", "2024-01-12T00:00:00Z", "2024-01-13T00:00"],
    ["0 0 */2 * 1", "2024-01-01T12:00:00Z", "2024-01-03T00:00"],
    ["0 0 * * 1", "2024-01-01T12:00:00Z", "2024-01-08T00:00"],
    ["0 0 */1 * 1", "2024-01-01T12:00:00Z", "2024-01-08T00:00"],
    ["0 0 1,* * 1", "2024-01-01T12:00:00Z", "2024-01-08T00:00"],
    ["0 0 ? * MON-FRI", "2024-01-05T12:00:00Z", "2024-01-08T00:00"],
    // Time zones: of the field, and of the schedule, which takes precedence.
    ["0 9 * * *", "2024-01-05T12:06:00Z", "2024-01-06T00:00", "Asia/Tokyo"],
    ["TZ=Asia/Tokyo 0 9 * * *", "2024-01-05T12:06:00Z", "2024-01-06T00:00"],
    ["CRON_TZ=Asia/Tokyo 0 9 * * *", "2024-01-05T12:06:00Z", "2024-01-06T00:00", newYork],
    ["30 5 * * *", "2024-01-05T12:06:00Z", "2024-01-06T00:00", "Asia/Kolkata"],
    ["0 9 * * *", "2024-01-05T12:06:00Z", "2024-01-06T09:00", "Local"],
  ];
  for (const [schedule, from, want, zone] of rows) {
    test(`${schedule} after ${from}${zone === undefined ? "" : ` in ${zone}`}`, () => {
      assert.equal(next(schedule, from, zone), want);
    });
  }
});

describe("clocks that are set", () => {
  const rows: readonly (readonly [what: string, schedule: string, from: string, want: string, zone?: string])[] = [
    ["a skipped hour is not made up for", "0 2 * * *", "2012-03-11T00:00:00-05:00", "2012-03-12T06:00"],
    ["nor a day's only time", "30 2 11 3 *", "2012-03-11T00:00:00-05:00", "2013-03-11T06:30"],
    ["hours go on across a skipped one", "0 * * * *", "2012-03-11T01:00:00-05:00", "2012-03-11T07:00"],
    ["what is later that day comes by the new clock", "0 3 * * *", "2012-03-11T00:00:00-05:00", "2012-03-11T07:00"],
    ["a repeated hour comes the first time", "0 1 * * *", "2012-11-04T00:00:00-04:00", "2012-11-04T05:00"],
    ["and the second time", "0 1 * * *", "2012-11-04T01:00:00-04:00", "2012-11-04T06:00"],
    ["and the next day once", "0 1 * * *", "2012-11-04T01:00:00-05:00", "2012-11-05T06:00"],
    ["a repeated half hour, asked within it", "30 1 4 11 *", "2012-11-04T01:45:00-04:00", "2012-11-04T06:30"],
    ["minutes go on through a repeated hour", "*/15 * * * *", "2012-11-04T01:45:00-04:00", "2012-11-04T06:00"],
    ["a midnight that does not exist", "0 0 * * *", "2018-11-03T12:00:00Z", "2018-11-05T02:00", "America/Sao_Paulo"],
    ["the day after it is not missed", "0 12 4 11 *", "2018-11-01T00:00:00Z", "2018-11-04T14:00", "America/Sao_Paulo"],
    ["a day that was left out", "0 9 30 12 *", "2011-12-01T00:00:00Z", "2012-12-29T19:00", "Pacific/Apia"],
    ["half an hour", "15 2 * * *", "2024-10-05T12:00:00Z", "2024-10-06T15:15", "Australia/Lord_Howe"],
  ];
  for (const [what, schedule, from, want, zone = newYork] of rows) {
    test(what, () => assert.equal(next(schedule, from, zone), want));
  }
});

describe("what is no schedule", () => {
  const rows: readonly (readonly [text: string, why: RegExp, zone?: string])[] = [
    ["", /empty/],
    ["CRON_TZ=UTC  ", /empty/],
    ["* * * *", /5 fields.*this has 4/],
    ["0 * * * * *", /5 fields.*this has 6/],
    ["60 * * * *", /^minute "60" is above 59$/],
    ["* 24 * * *", /^hour "24" is above 23$/],
    ["* * 0 * *", /^day of month "0" is below 1$/],
    ["* * * 13 *", /^month "13" is above 12$/],
    ["* * * * 7", /^day of week "7" is above 6$/],
    ["5-3 * * * *", /^minute "5-3" ends before it begins$/],
    ["*/0 * * * *", /step 0/],
    ["1/2/3 * * * *", /too many parts/],
    ["1-2-3 * * * *", /too many parts/],
    ["-1 * * * *", /not a number/],
    [", * * * *", /is empty/],
    ["x * * * *", /^minute "x" is not a number$/],
    ["* * L * *", /^day of month "L" is not a number$/],
    ["@fortnightly", /unknown descriptor/],
    ["@every", /unknown descriptor/],
    ["@every soon", /"soon" is not a duration/],
    ["@every 5", /"5" is not a duration/],
    ["@every -5m", /"-5m" must be above 0; write it like "@every 1h30m"/],
    ["@every 0s", /"0s" must be above 0; write it like "@every 1h30m"/],
    ["TZ=Mars/Olympus * * * * *", /Invalid timezone: unknown time zone Mars\/Olympus/],
    ["* * * * *", /Invalid timezone: unknown time zone Moon/, "Moon"],
  ];
  for (const [text, why, zone] of rows) {
    test(JSON.stringify(text), () => assert.match(next(text, "2024-01-01T00:00:00Z", zone), why));
  }
});

describe("a long schedule", () => {
  const errorOf = (text: string, zone?: string): string => {
    const read = readSchedule(text, zone);
    return read.ok ? "" : read.error;
  };
  const list = (length: number): string => `${"0,".repeat(200)}`.slice(0, length);

  test("is read as far as 256 characters", () => {
    assert.equal(errorOf(`${list(247)}0 * * * *`.padEnd(256)), "");
    assert.equal(
      errorOf(`${list(248)}0 * * * *`.padEnd(257)),
      "the schedule is 257 characters long: at most 256 are read",
    );
    assert.match(errorOf("@hourly", "x".repeat(257)), /^Invalid timezone: it is 257 characters long/);
  });

  for (const [why, text] of [
    ["digits without a unit", (n: number) => `@every ${"1".repeat(n)}`],
    ["spaces", (n: number) => `${" ".repeat(n)}x`],
    ["a zone that never ends", (n: number) => `TZ=${"x".repeat(n)}`],
  ] as const)
    test(`costs no more than its text: ${why}`, () => assertLinear(5_000, text, (given) => readSchedule(given)));
});
