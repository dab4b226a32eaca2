/** Policies over time: waits that are cancelled, levels that cancel each other, and events that upstream misses. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitIn } from "../../../support/plans.ts";
import { Loop, task } from "./loop.ts";

const phaseOf = (loop: Loop): string | undefined => loop.status().state?.phase;

describe("a policy with a timeout", () => {
  const escalating = [
    { event: "PodFailed", action: "RestartPod" },
    { event: "PodEvicted", action: "RestartJob", timeout: "10m" },
  ];

  test("is cancelled when the pod runs again", () => {
    const loop = new Loop({ tasks: [task("w", 2)], policies: escalating }).running();
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.equal(waitIn(loop.last).wakeAt, loop.now + 600_000);
    loop.pods("Running");
    loop.run();
    loop.turn(600_000).run();
    assert.equal(loop.status()["retryCount"], undefined);
  });

  test("leads to its action after its timeout, in a later step", () => {
    const loop = new Loop({ tasks: [task("w", 2)], policies: escalating }).running();
    loop.remove("pods", "j-w-0");
    loop.run();
    loop.turn(600_000).run();
    assert.ok(loop.phases.includes("Restarting"));
    assert.equal(loop.status()["version"], 1);
  });

  test("for PodPending restarts a pod that is Pending too long, and no running pod", () => {
    const policies = [{ event: "PodPending", action: "RestartPod", timeout: "2m" }];
    const loop = new Loop({ minAvailable: 1, tasks: [task("w", 2)], policies }).run();
    loop.admit();
    loop.run();
    loop.pods("Running", ["j-w-0"]);
    loop.run();
    assert.equal(waitIn(loop.last).wakeAt, loop.now + 120_000);
    loop.deeds.length = 0;
    loop.turn(120_000).run();
    assert.deepEqual(loop.deeds, ["delete pods j-w-1", "create pods j-w-1"]);
  });
});

describe("a policy event that upstream's controller misses", () => {
  test("a task's completion between two steps still completes the job", () => {
    const policies = [{ event: "TaskCompleted", action: "CompleteJob" }];
    const loop = new Loop({ minAvailable: 1, tasks: [task("m", 1, { policies }), task("w", 2)] }).running();
    loop.pods("Succeeded", ["j-m-0"]);
    loop.run();
    assert.deepEqual(loop.phases.slice(-2), ["Completing", "Completed"]);
    assert.deepEqual([loop.names("pods"), loop.status()["succeeded"]], [["j-m-0"], 1]);
  });

  test("a pod's failure between two steps still restarts the job", () => {
    const policies = [{ event: "PodFailed", action: "RestartJob" }];
    const loop = new Loop({ tasks: [task("w", 2)], policies }).running();
    loop.fail("j-w-0", 1);
    loop.fail("j-w-1", 1);
    loop.run();
    assert.equal(loop.status()["retryCount"], 1);
    assert.notEqual(phaseOf(loop), "Failed");
  });

  test("a pod's eviction between two steps still restarts the job", () => {
    const loop = new Loop({
      tasks: [task("w", 2)],
      policies: [{ event: "PodEvicted", action: "RestartJob" }],
    }).running();
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.equal(loop.status()["retryCount"], 1);
  });

  test("a PodGroup that is Unknown again restarts the job again", () => {
    const loop = new Loop({
      maxRetry: 5,
      tasks: [task("w", 1)],
      policies: [{ event: "Unknown", action: "RestartJob" }],
    }).running();
    loop.admit("Unknown");
    loop.run();
    loop.admit();
    loop.run();
    loop.pods("Running");
    loop.run();
    loop.admit("Unknown");
    loop.run();
    assert.deepEqual([loop.status()["retryCount"], loop.status()["version"]], [2, 2]);
  });

  test("the exit code of any container counts", () => {
    const loop = new Loop({ tasks: [task("w", 2)], policies: [{ exitCode: 42, action: "TerminateJob" }] }).running();
    loop.fail("j-w-0", 0, 42);
    loop.run();
    assert.deepEqual(loop.phases.slice(-2), ["Terminating", "Terminated"]);
  });

  test("an evicted pod that is Failed during its deletion counts as evicted (#5885)", () => {
    const policies = [
      { event: "PodFailed", action: "TerminateJob" },
      { event: "PodEvicted", action: "RestartPod" },
    ];
    const loop = new Loop({ tasks: [task("w", 2)], policies }).running();
    loop.change("pods", "j-w-0", {
      metadata: { deletionTimestamp: "2026-11-02T08:00:00Z" },
      status: { phase: "Failed" },
    });
    loop.run();
    assert.equal(phaseOf(loop), "Running");
    loop.remove("pods", "j-w-0");
    loop.run();
    assert.ok(loop.phases.includes("Restarting"));
  });

  test("containers that restart maxRetry times are the event TaskFailed", () => {
    const loop = new Loop({
      tasks: [task("w", 2, { maxRetry: 2 })],
      policies: [{ event: "TaskFailed", action: "AbortJob" }],
    }).running();
    loop.pods("Running", ["j-w-0"], { containerStatuses: [{ name: "c", restartCount: 2, ready: true }] });
    loop.run();
    assert.deepEqual(loop.phases.slice(-2), ["Aborting", "Aborted"]);
  });

  test("one partition is restarted without the others", () => {
    const partitionPolicy = { totalPartitions: 2, partitionSize: 2 };
    const policies = [{ event: "PodFailed", action: "RestartPartition" }];
    const loop = new Loop({ tasks: [task("w", 4, { partitionPolicy })], policies }).running();
    loop.deeds.length = 0;
    loop.fail("j-w-3", 1);
    loop.run();
    assert.deepEqual(
      loop.deeds.filter((deed) => deed.startsWith("delete")),
      ["delete pods j-w-2", "delete pods j-w-3"],
    );
  });
});
