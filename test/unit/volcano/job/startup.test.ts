/** A job whose pods do not start: what the record waits for, and the warning, once for each reason. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Plan } from "../../../../shared/core/plan.ts";
import type { Memory } from "../../../../shared/volcano/job/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { Loop, task } from "./loop.ts";

const placed = (reason: string, message: string): object => ({
  conditions: [{ type: "PodScheduled", status: "False", reason, message }],
});

/** Returns a job with two pods that have been pending for `ms`. */
const pendingFor = (ms: number, status: object = {}): Loop => {
  const loop = new Loop({ tasks: [task("w", 2)] });
  loop.run();
  loop.admit();
  loop.run();
  loop.pods("Pending", loop.names("pods"), { ...status });
  return loop.turn(ms);
};

const mountFails = (loop: Loop): Loop => {
  const { name, uid } = loop.pod("j-w-0").metadata;
  loop.put("events", {
    ...{ apiVersion: "v1", kind: "Event", metadata: { name: "e-1" }, involvedObject: { kind: "Pod", name, uid } },
    ...{ type: "Warning", reason: "FailedMount", lastTimestamp: "2026-11-02T08:00:05Z" },
    message: 'MountVolume.SetUp failed for volume "c" : configmap "app" not found',
  });
  return loop;
};

const warningsIn = ({ stages }: Plan<Memory>): readonly string[] =>
  stages
    .flat()
    .flatMap((effect) => (effect.do === "record" && effect.reason === "PodNotStarting" ? [effect.message] : []));

describe("pods of a job that do not start", () => {
  test("for 60 s appear in waitsFor, and one warning Event gives the reason and the remedy", () => {
    const loop = mountFails(pendingFor(60_000));
    const plan = loop.step();
    assert.match(
      waitIn(plan).waitsFor ?? "",
      /pod j-w-0 does not start \(FailedMount: .* configmap "app" not found\)$/,
    );
    assert.deepEqual(warningsIn(plan), [
      'task pod j-w-0 does not start: FailedMount: MountVolume.SetUp failed for volume "c" : configmap "app" not found; create configmap app in namespace ns, or correct the name',
    ]);
    assert.deepEqual([warningsIn(loop.step()), loop.memory?.held], [[], ["0 task FailedMount"]]);
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
    const loop = pendingFor(60_000);
    const [first, again] = [loop.step(true), loop.step()];
    assert.deepEqual(
      [first, again].map((plan) => warningsIn(plan).length),
      [1, 1],
    );
  });
});

describe("a task whose dependency has failed for good", () => {
  const waits = (more: object, phase: string): string => {
    const tasks = [task("prep", 1), task("w", 1, { dependsOn: { name: ["prep"] } })];
    const loop = new Loop({ tasks, minAvailable: 2, ...more });
    loop.run();
    loop.admit();
    loop.run();
    loop.pods(phase, ["j-prep-0"]);
    loop.run();
    return waitIn(loop.step()).waitsFor ?? "";
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
