/** The times of a CronJob step by step: one job for each, whatever happens in between. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { volcanoCronJob } from "../../../../shared/volcano/cron/decide.ts";
import { does, waitIn } from "../../../support/plans.ts";
import { fixtureOf } from "../fixture.ts";

const operator = volcanoCronJob({ settledMs: 16_000 });

/** Returns the instant of a time of 2026-11-02, UTC, in epoch ms. */
const at = (text: string): number => Date.parse(`2026-11-02T${text}Z`);

const minute = 60_000;

const nightly = (spec: object = {}, time = "08:00:30", { status = {}, metadata = {} } = {}) =>
  fixtureOf(
    operator,
    {
      apiVersion: "batch.volcano.sh/v1alpha1",
      kind: "CronJob",
      metadata: { name: "nightly", generation: 1, ...metadata },
      spec: {
        schedule: "*/5 * * * *",
        jobTemplate: { metadata: { labels: { a: "b" }, annotations: { c: "d" } }, spec: { minAvailable: 1 } },
        ...spec,
      },
      status,
    },
    at(time),
  );

const nameAt = (time: string): string => `nightly-${Math.floor(at(time) / minute)}`;

/** Steps until a time of the schedule has its job. */
const begun = (spec: object = {}) => {
  const fixture = nightly(spec).run();
  fixture.now = at("08:05:00");
  return fixture.run();
};

const activeIn = ({ active = [] }: { readonly active?: unknown }): unknown =>
  Array.isArray(active) ? active.map(({ name }) => name) : [];

describe("a time of a CronJob", () => {
  test("is awaited with a timer", () => {
    const { last, deeds } = nightly().run();
    assert.deepEqual([deeds, waitIn(last).wakeAt], [[], at("08:05:00")]);
  });

  test("creates a job with upstream's name, labels, annotation and owner", () => {
    const fixture = begun({ timeZone: "Europe/Berlin" });
    const { metadata, spec } = fixture.get("jobs", nameAt("08:05:00"));
    assert.deepEqual(metadata.labels, { a: "b" });
    assert.deepEqual(metadata.annotations, {
      c: "d",
      "volcano.sh/cronjob-scheduled-timestamp": "2026-11-02T09:05:00+01:00",
    });
    const apiVersion = "batch.volcano.sh/v1alpha1";
    const owner = { apiVersion, kind: "CronJob", name: "nightly", uid: fixture.own().metadata.uid };
    assert.deepEqual(metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.deepEqual(spec, { minAvailable: 1 });
    assert.deepEqual(fixture.told, [`SuccessfulCreate: Created job ${nameAt("08:05:00")} for CronJob ns/nightly`]);
    const { active, lastScheduleTime } = fixture.status();
    const { uid } = metadata;
    assert.deepEqual(active, [{ apiVersion, kind: "Job", namespace: "ns", name: nameAt("08:05:00"), uid }]);
    assert.equal(lastScheduleTime, "2026-11-02T08:05:00Z");
    assert.equal(waitIn(fixture.last).wakeAt, at("08:10:00"));
  });

  test("leads to one job, even if steps die between the save and the creation", () => {
    const fixture = nightly().run();
    fixture.now = at("08:05:00");
    fixture.step(true);
    fixture.now = at("08:05:20");
    fixture.run();
    fixture.run();
    assert.deepEqual(fixture.deeds, [`create jobs ${nameAt("08:05:00")}`]);
  });

  test("that was missed leads to one job, and many missed times lead to a warning Event", () => {
    const fixture = nightly().run();
    fixture.now = at("18:02:00");
    fixture.run();
    assert.deepEqual(fixture.deeds, [`create jobs ${nameAt("18:00:00")}`]);
    assert.match(fixture.told.join(), /TooManyMissedTimes/);
  });

  test("leads to no job when its deadline has passed", () => {
    const fixture = nightly({ startingDeadlineSeconds: 30 }).run();
    fixture.now = at("08:05:40");
    fixture.run();
    assert.deepEqual([fixture.deeds, waitIn(fixture.last).wakeAt], [[], at("08:10:00")]);
  });

  test("leads to no job if the step died before the creation and the deadline has passed", () => {
    const fixture = nightly({ startingDeadlineSeconds: 30 }).run();
    fixture.now = at("08:05:00");
    fixture.step(true);
    fixture.now = at("08:06:00");
    fixture.run();
    assert.deepEqual([fixture.deeds, waitIn(fixture.last).wakeAt], [[], at("08:10:00")]);
  });

  const zones = [
    ["America/New_York", "2026-11-02T03:05:00-05:00"],
    ["Asia/Kolkata", "2026-11-02T13:35:00+05:30"],
    ["UTC", "2026-11-02T08:05:00Z"],
  ] as const;
  for (const [timeZone, text] of zones)
    test(`is written into the annotation in the time zone ${timeZone}`, () => {
      const { annotations } = begun({ timeZone }).get("jobs", nameAt("08:05:00")).metadata;
      assert.equal(annotations?.["volcano.sh/cronjob-scheduled-timestamp"], text);
    });

  test("leads to no job during a suspension, and the last missed time to a job afterwards, as upstream does", () => {
    const fixture = nightly({ suspend: true }).run();
    assert.equal(does(fixture.last, "rest"), true);
    fixture.now = at("08:12:00");
    fixture.run();
    assert.deepEqual(fixture.deeds, []);
    fixture.change("cronjobs", "nightly", { spec: { suspend: false } });
    fixture.run();
    assert.deepEqual(fixture.deeds, [`create jobs ${nameAt("08:10:00")}`]);
  });

  test("of an edited schedule counts from the edit on", () => {
    const fixture = nightly({ schedule: "0 0 * * *" }).run();
    fixture.now = at("12:03:00");
    fixture.change("cronjobs", "nightly", { spec: { schedule: "*/5 * * * *" } });
    fixture.run();
    assert.deepEqual([fixture.deeds, waitIn(fixture.last).wakeAt], [[], at("12:05:00")]);
  });

  test("for which upstream created a job leads to no second job", () => {
    const [status, metadata] = [
      { lastScheduleTime: "2026-11-02T08:05:00Z" },
      { creationTimestamp: "2026-11-02T07:00:00Z" },
    ];
    const fixture = nightly({}, "08:07:00", { status, metadata }).run();
    assert.deepEqual(fixture.deeds, []);
  });

  test("whose job name is taken by a foreign job leads to an Event and to no job", () => {
    const fixture = nightly().run();
    fixture.refuses = () => ({ status: 409, reason: "NameTaken", message: "exists" });
    fixture.now = at("08:05:00");
    fixture.run();
    assert.match(fixture.told.join(), /ForeignJob: Failed to create job: exists/);
    assert.equal(waitIn(fixture.last).wakeAt, at("08:10:00"));
  });
});

describe("jobs of a CronJob", () => {
  const policies = [
    { policy: "Allow", deeds: [`create jobs ${nameAt("08:10:00")}`] },
    { policy: "Forbid", deeds: [] },
    { policy: "Replace", deeds: [`delete jobs ${nameAt("08:05:00")}`, `create jobs ${nameAt("08:10:00")}`] },
  ] as const;
  for (const { policy, deeds } of policies)
    test(`at the next time, while one runs, under ${policy}: ${deeds.join(", ") || "nothing"}`, () => {
      const fixture = begun({ concurrencyPolicy: policy });
      fixture.now = at("08:10:00");
      fixture.run();
      assert.deepEqual(fixture.deeds.slice(1), deeds);
    });

  test("are replaced by the next step if a step died after its save", () => {
    const fixture = begun({ concurrencyPolicy: "Replace" });
    fixture.now = at("08:10:00");
    fixture.step(true);
    fixture.turn(20_000).run();
    assert.deepEqual(fixture.names("jobs"), [nameAt("08:10:00")]);
    assert.match(fixture.told.join(), /Created job nightly-\d+ .*Created job nightly-\d+ /);
  });

  test("that concurrencyPolicy Forbid delayed are created when the active job has ended", () => {
    const fixture = begun({ concurrencyPolicy: "Forbid" });
    fixture.now = at("08:10:00");
    fixture.run();
    assert.match(fixture.told.join(), /ForbidConcurrent: Skipping job creation because another job is already running/);
    fixture.turn(minute);
    fixture.job(nameAt("08:05:00"), "Completed");
    fixture.run();
    assert.deepEqual(fixture.deeds.slice(1), [`create jobs ${nameAt("08:10:00")}`]);
  });

  test("are not replaced while a slow creation could still create them again", () => {
    const fixture = nightly({ schedule: "@every 8s", concurrencyPolicy: "Replace" }, "08:00:48").run();
    fixture.turn(8_000).run();
    const held = fixture.turn(8_000).run().deeds.length;
    assert.deepEqual([held, waitIn(fixture.last).wakeAt], [1, at("08:01:12")]);
    fixture.turn(8_000).run();
    const [first, second] = [nameAt("08:00:56"), nameAt("08:01:12")];
    assert.deepEqual(fixture.deeds.slice(1), [`delete jobs ${first}`, `create jobs ${second}`]);
  });

  test("leave status.active when they end, and lastSuccessfulTime stays when the job is deleted", () => {
    const fixture = begun({ successfulJobsHistoryLimit: 0 });
    fixture.turn(minute);
    fixture.job(nameAt("08:05:00"), "Completed");
    fixture.run();
    assert.match(fixture.told.join(), /SawCompletedJob: Saw completed job: nightly-\d+ in active, remove/);
    assert.deepEqual(activeIn(fixture.status()), []);
    assert.equal(fixture.status()["lastSuccessfulTime"], "2026-11-02T08:06:00Z");
    assert.deepEqual(fixture.names("jobs"), []);
    fixture.run();
    assert.equal(fixture.status()["lastSuccessfulTime"], "2026-11-02T08:06:00Z");
  });

  test("that are being deleted are not active, but still block the next job under Forbid", () => {
    const fixture = begun({ concurrencyPolicy: "Forbid" });
    fixture.change("jobs", nameAt("08:05:00"), { metadata: { deletionTimestamp: "2026-11-02T08:06:00Z" } });
    fixture.now = at("08:10:00");
    fixture.run();
    assert.deepEqual([activeIn(fixture.status()), fixture.deeds.length], [[], 1]);
  });

  test("that are being deleted do not count as history: no other job is deleted for them", () => {
    const fixture = begun({ successfulJobsHistoryLimit: 1 });
    fixture.job(nameAt("08:05:00"), "Completed");
    fixture.now = at("08:10:00");
    fixture.run();
    fixture.job(nameAt("08:10:00"), "Completed");
    fixture.change("jobs", nameAt("08:10:00"), { metadata: { deletionTimestamp: "2026-11-02T08:10:10Z" } });
    fixture.turn(minute).run();
    assert.deepEqual(fixture.names("jobs"), [nameAt("08:05:00"), nameAt("08:10:00")]);
  });

  test("that a user deleted lead to the Event StaleReference", () => {
    const fixture = begun();
    fixture.remove("jobs", nameAt("08:05:00"));
    fixture.run();
    assert.match(fixture.told.join(), /StaleReference: Active job "nightly-\d+" no longer exists/);
    assert.deepEqual(fixture.deeds.length, 1);
  });

  test("are kept up to the history limits, the newest first; terminated jobs do not count", () => {
    const fixture = nightly({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 }).run();
    const ends = ["Completed", "Failed", "Completed", "Terminated", "Completed", "Failed"];
    for (const [index, phase] of ends.entries()) {
      fixture.now = at("08:05:00") + index * 5 * minute;
      fixture.run();
      fixture.turn(minute);
      fixture.job(`nightly-${at("08:05:00") / minute + index * 5}`, phase);
      fixture.run();
    }
    assert.deepEqual(fixture.names("jobs"), [
      nameAt("08:15:00"),
      nameAt("08:20:00"),
      nameAt("08:25:00"),
      nameAt("08:30:00"),
    ]);
  });
});

describe("a CronJob whose spec is invalid", () => {
  const rows = [
    { spec: { schedule: "every night" }, says: /UnParseableCronJobSchedule: .*every night/ },
    { spec: { timeZone: "Mars/Olympus" }, says: /InvalidTimeZone: Invalid time zone "Mars\/Olympus"/ },
    { spec: { schedule: "59 23 31 2 *" }, says: /InvalidSchedule: .*less than 1 second/ },
    {
      spec: { concurrencyPolicy: "Maybe" },
      says: /InvalidSpec: spec.concurrencyPolicy must be Allow, Forbid or Replace/,
    },
    { spec: { startingDeadlineSeconds: "soon" }, says: /InvalidSpec: .*startingDeadlineSeconds/ },
  ] as const;
  for (const { spec, says } of rows)
    test(`records an Event and rests: ${JSON.stringify(spec)}`, () => {
      const fixture = nightly(spec).run();
      assert.match(fixture.told.join(), says);
      assert.deepEqual([does(fixture.last, "rest"), fixture.deeds], [true, []]);
      assert.match(waitIn(fixture.last).waitsFor ?? "", /its spec to be corrected/);
    });

  test("gets a warning Event for a zone in its schedule, and the schedule's zone counts", () => {
    const fixture = nightly({ schedule: "TZ=UTC 0 9 * * *", timeZone: "Pacific/Honolulu" }).run();
    assert.match(fixture.told.join(), /UnsupportedSchedule/);
    assert.equal(waitIn(fixture.last).wakeAt, at("09:00:00"));
    assert.deepEqual(fixture.step().stages, []);
  });
});
