/** Policies over time: waits that are cancelled, levels that cancel each other, and events that upstream misses. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitIn } from "../../../support/plans.ts";
import { openJob, phaseOf, task } from "./fixtures.ts";

describe("a policy with a timeout", () => {
  const escalating = [
    { event: "PodFailed", action: "RestartPod" },
    { event: "PodEvicted", action: "RestartJob", timeout: "10m" },
  ];

  test("is cancelled when the pod runs again", () => {
    const fixture = openJob({ tasks: [task("w", 2)], policies: escalating }).running();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.equal(waitIn(fixture.last).wakeAt, fixture.now + 600_000);
    fixture.pods("Running");
    fixture.run();
    fixture.turn(600_000).run();
    assert.equal(fixture.status()["retryCount"], undefined);
  });

  test("leads to its action after its timeout, in a later step", () => {
    const fixture = openJob({ tasks: [task("w", 2)], policies: escalating }).running();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    fixture.turn(600_000).run();
    assert.ok(fixture.phases.includes("Restarting"));
    assert.equal(fixture.status()["version"], 1);
  });

  test("for PodPending restarts a pod that is Pending too long, and no running pod", () => {
    const policies = [{ event: "PodPending", action: "RestartPod", timeout: "2m" }];
    const fixture = openJob({ minAvailable: 1, tasks: [task("w", 2)], policies }).run();
    fixture.admit();
    fixture.run();
    fixture.pods("Running", ["j-w-0"]);
    fixture.run();
    assert.equal(waitIn(fixture.last).wakeAt, fixture.now + 120_000);
    fixture.deeds.length = 0;
    fixture.turn(120_000).run();
    assert.deepEqual(fixture.deeds, ["delete pods j-w-1", "create pods j-w-1"]);
  });
});

describe("a policy event that upstream's controller misses", () => {
  test("a task's completion between two steps still completes the job", () => {
    const policies = [{ event: "TaskCompleted", action: "CompleteJob" }];
    const fixture = openJob({ minAvailable: 1, tasks: [task("m", 1, { policies }), task("w", 2)] }).running();
    fixture.pods("Succeeded", ["j-m-0"]);
    fixture.run();
    assert.deepEqual(fixture.phases.slice(-2), ["Completing", "Completed"]);
    assert.deepEqual([fixture.names("pods"), fixture.status()["succeeded"]], [["j-m-0"], 1]);
  });

  test("a pod's failure between two steps still restarts the job", () => {
    const policies = [{ event: "PodFailed", action: "RestartJob" }];
    const fixture = openJob({ tasks: [task("w", 2)], policies }).running();
    fixture.fail("j-w-0", 1);
    fixture.fail("j-w-1", 1);
    fixture.run();
    assert.equal(fixture.status()["retryCount"], 1);
    assert.notEqual(phaseOf(fixture), "Failed");
  });

  test("a pod's eviction between two steps still restarts the job", () => {
    const fixture = openJob({
      tasks: [task("w", 2)],
      policies: [{ event: "PodEvicted", action: "RestartJob" }],
    }).running();
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.equal(fixture.status()["retryCount"], 1);
  });

  test("a PodGroup that is Unknown again restarts the job again", () => {
    const fixture = openJob({
      maxRetry: 5,
      tasks: [task("w", 1)],
      policies: [{ event: "Unknown", action: "RestartJob" }],
    }).running();
    fixture.admit("Unknown");
    fixture.run();
    fixture.admit();
    fixture.run();
    fixture.pods("Running");
    fixture.run();
    fixture.admit("Unknown");
    fixture.run();
    assert.deepEqual([fixture.status()["retryCount"], fixture.status()["version"]], [2, 2]);
  });

  test("the exit code of any container counts", () => {
    const fixture = openJob({ tasks: [task("w", 2)], policies: [{ exitCode: 42, action: "TerminateJob" }] }).running();
    fixture.fail("j-w-0", 0, 42);
    fixture.run();
    assert.deepEqual(fixture.phases.slice(-2), ["Terminating", "Terminated"]);
  });

  test("an evicted pod that is Failed during its deletion counts as evicted (#5885)", () => {
    const policies = [
      { event: "PodFailed", action: "TerminateJob" },
      { event: "PodEvicted", action: "RestartPod" },
    ];
    const fixture = openJob({ tasks: [task("w", 2)], policies }).running();
    fixture.change("pods", "j-w-0", {
      metadata: { deletionTimestamp: "2026-11-02T08:00:00Z" },
      status: { phase: "Failed" },
    });
    fixture.run();
    assert.equal(phaseOf(fixture), "Running");
    fixture.remove("pods", "j-w-0");
    fixture.run();
    assert.ok(fixture.phases.includes("Restarting"));
  });

  test("containers that restart maxRetry times are the event TaskFailed", () => {
    const fixture = openJob({
      tasks: [task("w", 2, { maxRetry: 2 })],
      policies: [{ event: "TaskFailed", action: "AbortJob" }],
    }).running();
    fixture.pods("Running", ["j-w-0"], { containerStatuses: [{ name: "c", restartCount: 2, ready: true }] });
    fixture.run();
    assert.deepEqual(fixture.phases.slice(-2), ["Aborting", "Aborted"]);
  });

  test("one partition is restarted without the others", () => {
    const partitionPolicy = { totalPartitions: 2, partitionSize: 2 };
    const policies = [{ event: "PodFailed", action: "RestartPartition" }];
    const fixture = openJob({ tasks: [task("w", 4, { partitionPolicy })], policies }).running();
    fixture.deeds.length = 0;
    fixture.fail("j-w-3", 1);
    fixture.run();
    assert.deepEqual(
      fixture.deeds.filter((deed) => deed.startsWith("delete")),
      ["delete pods j-w-2", "delete pods j-w-3"],
    );
  });
});
