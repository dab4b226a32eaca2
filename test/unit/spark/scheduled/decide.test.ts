/** A time of the schedule step by step: one run for each, whatever happens in between. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { timingOf } from "../../../../shared/kube/history.ts";
import { does, waitIn } from "../../../support/plans.ts";
import {
  at,
  name,
  planned,
  run,
  said,
  schedule,
  stateOf,
  taken,
  template,
  timeOf,
  timing,
  waiting,
} from "./fixtures.ts";

describe("a time of the schedule", () => {
  test("is awaited with a timer, and saved in the record", () => {
    const plan = planned({ now: at("08:00:01") });
    assert.deepEqual(
      [said(plan), timeOf(waitIn(plan).wakeAt), timeOf(plan.memory.nextRun)],
      [[], "09:00:00", "09:00:00"],
    );
    assert.deepEqual(plan.status, { scheduleState: "Scheduled", nextRun: "2026-11-02T09:00:00Z" });
  });

  test("leads to a run with the schedule's annotations that say who admits and creates executors, and no others", () => {
    const annotations = {
      "rekindle.dev/kueue-queue": "team-a",
      "rekindle.dev/executors": "own",
      "rekindle.dev/gang": "true",
      "example.com/note": "x",
    };
    const { metadata, ...rest } = schedule();
    const object = { ...rest, metadata: { ...metadata, annotations } };
    const [[effect] = []] = planned({ object, memory: waiting, now: at("09:00:00") }).stages;
    assert.deepEqual(effect?.do === "create" ? effect.object.metadata.annotations : effect, {
      "rekindle.dev/kueue-queue": "team-a",
      "rekindle.dev/executors": "own",
    });
  });

  test("leads to a run with upstream's name, labels and owner", () => {
    const { stages } = planned({ memory: waiting, now: at("09:00:00") });
    assert.deepEqual(stages, [
      [
        {
          do: "create",
          owner: "s-1",
          resource: {
            group: "sparkoperator.k8s.io",
            version: "v1beta2",
            plural: "sparkapplications",
            kind: "SparkApplication",
          },
          object: {
            apiVersion: "sparkoperator.k8s.io/v1beta2",
            kind: "SparkApplication",
            metadata: {
              name: `nightly-${at("09:00:00") / 1_000}000000000`,
              namespace: "ns",
              labels: { team: "a", "sparkoperator.k8s.io/scheduled-app-name": "nightly" },
              ownerReferences: [
                {
                  apiVersion: "sparkoperator.k8s.io/v1beta2",
                  kind: "ScheduledSparkApplication",
                  name: "nightly",
                  uid: "s-1",
                  blockOwnerDeletion: true,
                },
              ],
            },
            spec: template,
          },
        },
      ],
    ]);
  });

  const deciding = planned({ memory: waiting, now: at("09:00:02") });
  const decided = deciding.memory;

  test("is saved before its run is created, and stands in the status as lastRun", () => {
    assert.deepEqual(
      [decided.starting, timeOf(decided.nextRun)],
      [{ ...taken("09:00:00"), at: at("09:00:02") }, "10:00:00"],
    );
    const { status } = deciding;
    const again = does(deciding, "again");
    assert.deepEqual(
      [status?.["lastRun"], status?.["lastRunName"], again],
      ["2026-11-02T09:00:02Z", name("09:00:00"), true],
    );
  });

  test("without its run leads to the run in the next step", () => {
    const plan = planned({ memory: decided, now: at("09:00:30") });
    assert.deepEqual([said(plan), plan.memory], [["create 09:00:00"], decided]);
  });

  test("with its run leads to no further run", () => {
    const plan = planned({ memory: decided, now: at("09:00:03"), runs: [run("09:00:00", "RUNNING")] });
    assert.deepEqual([said(plan), plan.memory.starting, plan.memory.lastRun?.name], [[], undefined, name("09:00:00")]);
  });

  test("leads to no second run if a user deletes the run", () => {
    const memory = { timing, nextRun: at("10:00:00"), lastRun: taken("09:00:00") };
    assert.deepEqual(said(planned({ memory, now: at("09:30:00") })), []);
  });

  test("whose run was delayed for hours leads to one run, and to none for the times missed meanwhile", () => {
    const plan = planned({ memory: decided, now: at("11:30:00") });
    assert.deepEqual([said(plan), timeOf(plan.memory.nextRun)], [["create 09:00:00"], "12:00:00"]);
  });

  test("that was missed leads to one run", () => {
    const plan = planned({ memory: waiting, now: at("13:20:00") });
    assert.deepEqual([said(plan), timeOf(plan.memory.nextRun)], [["create 09:00:00"], "14:00:00"]);
  });

  test("every three minutes does not drift", () => {
    const object = schedule({ schedule: "@every 3m" });
    const memory = { timing: timingOf(object), nextRun: at("09:00:00") };
    assert.equal(timeOf(planned({ object, memory, now: at("09:00:02") }).memory.nextRun), "09:03:00");
    assert.equal(timeOf(planned({ object, memory, now: at("09:20:02") }).memory.nextRun), "09:23:02");
  });

  test("whose run the API server refuses leads to an Event and no run; the next time leads to its run", () => {
    const [effect] = deciding.stages.flat();
    assert.ok(effect);
    const refused = [{ effect, status: 422, reason: "Invalid", message: "no such field" }];
    const plan = planned({ memory: decided, now: at("09:00:02"), refused });
    assert.deepEqual(
      [said(plan), plan.memory.starting, timeOf(waitIn(plan).wakeAt), stateOf(plan), plan.status?.["lastRunName"]],
      [["tell ScheduledSparkApplicationRunRefused"], undefined, "10:00:00", "Scheduled", undefined],
    );
    assert.match(String(plan.status?.["reason"]), /was refused: no such field/);
    const later = planned({ memory: plan.memory, now: at("10:00:00") });
    assert.deepEqual([said(later), later.status?.["reason"]], [["create 10:00:00"], undefined]);
  });
});

describe("a long name of a schedule", () => {
  const rows: readonly (readonly [length: number, digits: number])[] = [
    [43, 19],
    [44, 16],
    [47, 13],
    [52, 10],
  ];
  for (const [length, digits] of rows) {
    test(`of ${length} characters leaves ${digits} digits for the time`, () => {
      const object = schedule({}, { metadata: { ...schedule().metadata, name: "n".repeat(length) } });
      const [effect] = planned({ object, memory: waiting, now: at("09:00:00") }).stages.flat();
      assert.ok(effect?.do === "create");
      const made = effect.object.metadata.name;
      assert.deepEqual([made.length <= 63, made.slice(length + 1).length], [true, digits]);
    });
  }
});
