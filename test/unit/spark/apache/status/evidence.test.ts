/** The state of a driver by its pod, and the state that the number of ready executors asks for. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { evidenceOf, runningState } from "../../../../../shared/spark/apache/status/evidence.ts";
import type { Summary } from "../../../../../shared/spark/apache/status/summary.ts";
import {
  container,
  ended,
  evicted,
  executors,
  failed,
  main,
  pending,
  pod,
  policyOf,
  ready,
  started,
  succeeded,
} from "../fixtures.ts";

const sidecar = { name: "sidecar", ready: true, restartCount: 0 };

const running = (...containerStatuses: readonly object[]): Stored => pod({ phase: "Running", containerStatuses });

const rows: readonly (readonly [why: string, pod: Stored, is: string])[] = [
  ["a pending pod waits", pending, "waiting"],
  ["a pod without a status waits", pod({}), "waiting"],
  ["a ready main container has started", started, "started"],
  ["a ready pod is ready", ready, "ready"],
  ["a ready sidecar is no start", running(container(), sidecar), "waiting"],
  ["the phase Succeeded", succeeded, "Succeeded"],
  ["the phase Succeeded without container statuses", pod({ phase: "Succeeded" }), "Succeeded"],
  ["the phase Failed", failed, "Failed"],
  ["the phase Failed without container statuses: its node refused the pod", pod({ phase: "Failed" }), "Failed"],
  ["an eviction without container statuses", evicted, "DriverEvicted"],
  ["an eviction in other letters", pod({ phase: "Failed", reason: "evicted" }), "DriverEvicted"],
  [
    "an eviction after the container's end",
    pod({ phase: "Failed", reason: "Evicted", containerStatuses: [ended(137)] }),
    "DriverEvicted",
  ],
  [
    "a sidecar that ends well ends nothing",
    running(container({ ready: true }), { ...sidecar, ...ended(0, { name: "sidecar" }) }),
    "started",
  ],
  ["a sidecar that fails ends nothing", running(container({ ready: true }), ended(1, { name: "sidecar" })), "started"],
  ["a main container that ends well, beside a sidecar that goes on", running(ended(0), sidecar), "Succeeded"],
  ["a main container that fails, beside a sidecar that goes on", running(ended(3), sidecar), "Failed"],
  ["a main container that was restarted", running(container({ ready: true, restartCount: 1 })), "Failed"],
  [
    "a sidecar that was restarted ends nothing",
    running(container({ ready: true }), { ...sidecar, restartCount: 4 }),
    "started",
  ],
];

describe("the state of a driver", () => {
  for (const [why, driver, is] of rows) {
    test(`${why}: ${is}`, () => {
      const evidence = evidenceOf(driver, main);
      assert.equal(evidence.is === "ended" ? evidence.as : evidence.is, is);
    });
  }

  test("that ended with 0 because its pod was deleted is a failure", () => {
    const end = { exitCode: 0, startedAt: "2026-11-02T08:00:00Z", finishedAt: "2026-11-02T08:00:40Z" };
    const deleted = pod(
      { phase: "Succeeded", containerStatuses: [container({ state: { terminated: end } })] },
      { deletionTimestamp: "2026-11-02T08:01:00Z", deletionGracePeriodSeconds: 30 },
    );
    assert.deepEqual(evidenceOf(deleted, main), {
      is: "ended",
      as: "Failed",
      message: "Driver pod was deleted before its program ended.",
    });
  });
});

type Case = readonly [
  before: Summary,
  thresholds: readonly [init: number, min: number, max: number],
  ready: number,
  after: Summary,
];

const cases: readonly Case[] = [
  ["DriverReady", [0, 0, 0], 0, "RunningHealthy"],
  ["DriverReady", [0, 2, 5], 0, "RunningHealthy"],
  ["DriverReady", [3, 2, 5], 0, "DriverReady"],
  ["DriverReady", [3, 2, 5], 1, "InitializedBelowThresholdExecutors"],
  ["InitializedBelowThresholdExecutors", [3, 2, 5], 0, "InitializedBelowThresholdExecutors"],
  ["InitializedBelowThresholdExecutors", [3, 2, 5], 3, "RunningWithPartialCapacity"],
  ["InitializedBelowThresholdExecutors", [3, 2, 5], 5, "RunningHealthy"],
  ["DriverReady", [3, 2, 0], 3, "RunningHealthy"],
  ["RunningHealthy", [3, 2, 5], 4, "RunningWithPartialCapacity"],
  ["RunningHealthy", [3, 2, 5], 1, "RunningWithBelowThresholdExecutors"],
  ["RunningHealthy", [3, 0, 5], 0, "RunningHealthy"],
  ["RunningWithBelowThresholdExecutors", [3, 2, 5], 2, "RunningWithPartialCapacity"],
  ["RunningWithPartialCapacity", [3, 2, 5], 5, "RunningHealthy"],
  ["RunningWithPartialCapacity", [3, 2, 5], 0, "RunningWithBelowThresholdExecutors"],
];

describe("the state by ready executors", () => {
  for (const [before, thresholds, count, after] of cases) {
    const [initExecutors, minExecutors, maxExecutors] = thresholds;
    test(`${before} with ${count} ready, init, min, max ${thresholds.join(", ")}: ${after}`, () => {
      const policy = policyOf({ instanceConfig: { initExecutors, minExecutors, maxExecutors } });
      assert.equal(runningState(before, executors(count), policy.executors), after);
    });
  }

  test("is never partial with dynamic allocation, which asks for executors as it needs them", () => {
    const instanceConfig = { initExecutors: 1, minExecutors: 1, maxExecutors: 5 };
    const { executors: thresholds } = policyOf({ instanceConfig }, { "spark.dynamicAllocation.enabled": "true" });
    assert.equal(runningState("DriverReady", executors(1), thresholds), "RunningHealthy");
  });

  test("counts executors that are ready, and no others", () => {
    const { executors: thresholds } = policyOf({ instanceConfig: { initExecutors: 2 } });
    assert.equal(
      runningState("DriverReady", [ready, started, pending, failed], thresholds),
      "InitializedBelowThresholdExecutors",
    );
  });
});
