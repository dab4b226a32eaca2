/** A case of the sweep from what recorded decisions saw: spec, users' changes, and the ends of pods. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import type { SeenByDecision } from "../../../shared/inspection/sweep-case.ts";
import { sweepCaseOf } from "../../../shared/inspection/sweep-case.ts";

const start = Date.UTC(2026, 10, 2, 8);
const instant = (second: number): string => new Date(start + second * 1_000).toISOString();

const application = (spec: object, more: Partial<Stored["metadata"]> = {}): Stored => ({
  ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", spec },
  metadata: { name: "etl", namespace: "team-a", uid: "app", resourceVersion: "1", ...more },
});

type End = { readonly from: number; readonly to: number; readonly code: number };

const pod = (uid: string, labels: Readonly<Record<string, string>>, owner: string, end?: End): Stored => ({
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: {
    ...{ name: uid, namespace: "team-a", uid, resourceVersion: "1", labels },
    ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: owner, uid: owner }],
  },
  status: {
    containerStatuses:
      end === undefined
        ? [{ state: { running: { startedAt: instant(0) } } }]
        : [
            {
              state: {
                terminated: {
                  ...{ exitCode: end.code, startedAt: instant(end.from), finishedAt: instant(end.to) },
                  ...(end.code === 0 ? {} : { reason: "Error" }),
                },
              },
            },
          ],
  },
});

const driver = (uid: string, end?: End) => pod(uid, { "spark-role": "driver" }, "app", end);
const executor = (id: number, of: string, end?: End) =>
  pod(`${of}-${id}`, { "spark-role": "executor", "spark-exec-id": String(id) }, of, end);

const seen = (second: number, more: Partial<SeenByDecision> = {}): SeenByDecision => ({
  ...{ at: start + second * 1_000, object: application({ image: "a:1" }), pods: [], phase: "RUNNING" },
  ...more,
});

describe("a case of the sweep", () => {
  test("has a driver per attempt with its time and exit code, and the executors that failed under it", () => {
    const first = driver("d1", { from: 2, to: 30, code: 3 });
    const second = driver("d2", { from: 40, to: 100, code: 0 });
    const executors = [
      executor(1, "d1", { from: 5, to: 12, code: 137 }),
      executor(2, "d1", { from: 5, to: 30, code: 143 }),
      executor(1, "d2", { from: 50, to: 100, code: 0 }),
    ];
    const found = sweepCaseOf("team-a/etl", [
      seen(90, { pods: [second, ...executors], phase: "COMPLETED" }),
      seen(0, { pods: [driver("d1")] }),
      seen(31, { pods: [first, ...executors.slice(0, 2)] }),
    ]);
    assert.deepEqual(found.drivers, [
      {
        jobMs: 28_000,
        exitCode: 3,
        reason: "Error",
        executors: { 1: { runMs: 7_000, exitCode: 137, reason: "Error" } },
      },
      { jobMs: 60_000 },
    ]);
    assert.deepEqual([found.ends, found.spec, found.actions], ["COMPLETED", { image: "a:1" }, []]);
  });

  test("has the changes of the spec and the deletion at their times, and what was asked of Rekindle", () => {
    const annotations = { "rekindle.dev/executors": "own", "rekindle.dev/record-until": "x", "team/cost": "7" };
    const found = sweepCaseOf("team-a/etl", [
      seen(0, { object: application({ image: "a:1", suspend: true }, { annotations }) }),
      seen(10, { object: application({ image: "a:2" }) }),
      seen(20, { object: application({ image: "a:2" }) }),
      seen(30, { object: undefined }),
      seen(40, { object: undefined }),
    ]);
    assert.deepEqual(found.actions, [
      { afterMs: 10_000, patch: { suspend: null, image: "a:2" } },
      { afterMs: 30_000, delete: true },
    ]);
    assert.deepEqual(found.annotations, { "rekindle.dev/executors": "own" });
    assert.equal("ends" in found, false);
  });

  test("of a driver that was not seen to end lets it complete; a long time is cut", () => {
    const long = driver("d1", { from: 0, to: 86_400, code: 0 });
    const drivers = sweepCaseOf("team-a/etl", [seen(0, { pods: [long, driver("d2")] })]).drivers;
    assert.deepEqual(drivers, [{ jobMs: 600_000 }, { jobMs: 10_000 }]);
  });

  test("is refused where no decision saw the application", () => {
    assert.throws(() => sweepCaseOf("team-a/etl", [seen(0, { object: undefined })]), /nothing can be exported/);
  });
});
