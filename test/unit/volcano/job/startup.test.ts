/** A job whose pods do not start: what the record waits for, and the warning, once for each reason. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Plan } from "../../../../shared/core/plan.ts";
import type { Memory } from "../../../../shared/volcano/job/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { type JobFixture, openJob, task } from "./fixtures.ts";

const placed = (reason: string, message: string): object => ({
  conditions: [{ type: "PodScheduled", status: "False", reason, message }],
});

/** Returns a job with two pods that have been pending for `ms`. */
const pendingFor = (ms: number, status: object = {}): JobFixture => {
  const fixture = openJob({ tasks: [task("w", 2)] });
  fixture.run();
  fixture.admit();
  fixture.run();
  fixture.pods("Pending", fixture.names("pods"), { ...status });
  return fixture.turn(ms);
};

const mountFails = (fixture: JobFixture): JobFixture => {
  const { name, uid } = fixture.pod("j-w-0").metadata;
  fixture.put("events", {
    ...{ apiVersion: "v1", kind: "Event", metadata: { name: "e-1" }, involvedObject: { kind: "Pod", name, uid } },
    ...{ type: "Warning", reason: "FailedMount", lastTimestamp: "2026-11-02T08:00:05Z" },
    message: 'MountVolume.SetUp failed for volume "c" : configmap "app" not found',
  });
  return fixture;
};

const warningsIn = ({ stages }: Plan<Memory>): readonly string[] =>
  stages
    .flat()
    .flatMap((effect) => (effect.do === "record" && effect.reason === "PodNotStarting" ? [effect.message] : []));

describe("pods of a job that do not start", () => {
  test("for 60 s appear in waitsFor, and one warning Event gives the reason and the remedy", () => {
    const fixture = mountFails(pendingFor(60_000));
    const plan = fixture.step();
    assert.match(
      waitIn(plan).waitsFor ?? "",
      /pod j-w-0 does not start \(FailedMount: .* configmap "app" not found\)$/,
    );
    assert.deepEqual(warningsIn(plan), [
      'task pod j-w-0 does not start: FailedMount: MountVolume.SetUp failed for volume "c" : configmap "app" not found; create configmap app in namespace ns, or correct the name',
    ]);
    assert.deepEqual([warningsIn(fixture.step()), fixture.memory?.held], [[], ["0 task FailedMount"]]);
  });

  test("for 10 s are read again after 30 s, without an Event", () => {
    const plan = mountFails(pendingFor(10_000)).step();
    assert.deepEqual([warningsIn(plan), waitIn(plan).pollMs], [[], 30_000]);
    assert.doesNotMatch(waitIn(plan).waitsFor ?? "", /does not start/);
  });

  test("because they are Unschedulable lead to an Event with the text of their condition", () => {
    const plan = pendingFor(60_000, placed("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")).step();
    assert.match(
      warningsIn(plan).join(),
      /^task pod j-w-0 does not start: Unschedulable: .*; make room in the cluster/,
    );
  });

  test("because of a scheduling gate wait for their PodGroup, without an Event", () => {
    const plan = pendingFor(60_000, placed("SchedulingGated", "")).step();
    assert.deepEqual([warningsIn(plan), waitIn(plan).pollMs], [[], undefined]);
  });

  test("lead to the warning again if the step dies before it saves that it has recorded it", () => {
    const fixture = pendingFor(60_000);
    const [first, again] = [fixture.step(true), fixture.step()];
    assert.deepEqual(
      [first, again].map((plan) => warningsIn(plan).length),
      [1, 1],
    );
  });
});

describe("a task whose dependency has failed for good", () => {
  const waits = (more: object, phase: string): string => {
    const tasks = [task("prep", 1), task("w", 1, { dependsOn: { name: ["prep"] } })];
    const fixture = openJob({ tasks, minAvailable: 2, ...more });
    fixture.run();
    fixture.admit();
    fixture.run();
    fixture.pods(phase, ["j-prep-0"]);
    fixture.run();
    return waitIn(fixture.step()).waitsFor ?? "";
  };

  test("is what the record waits for", () => {
    assert.equal(waits({}, "Failed"), "task prep, on which task w depends, to be there: its pods have failed");
  });

  test("is not while its pod may still run, and not where a policy answers the failure later", () => {
    assert.doesNotMatch(waits({}, "Pending"), /depends/);
    const policies = [{ event: "PodFailed", action: "RestartJob", timeout: "10m" }];
    assert.doesNotMatch(waits({ policies }, "Failed"), /depends/);
  });
});
