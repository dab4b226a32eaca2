/** The demo's claims against constructed worlds: each claim fails in the world that it forbids. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { claimsOf, type Evidence } from "../../../../shared/deployments/demo/observed-cluster.ts";

const uid = "app-uid";

const application: Stored = {
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "spark-pi", uid, resourceVersion: "1" },
  spec: { executor: { instances: 2 } },
  status: { applicationState: { state: "COMPLETED" }, executionAttempts: 1 },
};

const pod = (name: string, labels: Record<string, string>, exitCode: number): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, uid: name, resourceVersion: "1", labels: { "rekindle.dev/app-uid": uid, ...labels } },
  status: {
    phase: exitCode === 0 ? "Succeeded" : "Failed",
    containerStatuses: [{ name: "spark", state: { terminated: { exitCode } } }],
  },
});

const driver = (name: string, attempt: string): Stored =>
  pod(name, { "spark-role": "driver", "rekindle.dev/attempt": attempt }, 0);
const executor = (id: number, exitCode: number): Stored =>
  pod(`exec-${id}`, { "spark-role": "executor", "spark-exec-id": String(id) }, exitCode);

const good: readonly Stored[] = [driver("driver", "1"), executor(1, 137), executor(2, 0), executor(3, 0)];

const evidence = (objects: readonly Stored[], more: Partial<Evidence> = {}): Evidence => ({
  observed: {
    seen: new Map([application, ...objects].map((object) => [object.metadata.uid, object])),
    gone: new Set(),
  },
  application,
  states: ["SUBMITTED", "RUNNING", "COMPLETED"],
  deeds: { killedExecutor: "exec-1", killedInvocation: 1, tookOver: 2 },
  log: "INFO begins\nPi is roughly 3.1416\n",
  ...more,
});

const refuted = (given: Evidence): readonly string[] =>
  claimsOf(given).flatMap(({ claim, holds }) => (holds ? [] : [claim]));

const deeds = { killedExecutor: "exec-1", killedInvocation: 1, tookOver: 2 };
const cases: readonly (readonly [name: string, given: Evidence, refuted: readonly string[]])[] = [
  ["everything went well", evidence(good), []],
  ["an attempt has two drivers", evidence([...good, driver("other", "1")]), ["one driver per attempt"]],
  ["there is a driver of an unknown attempt", evidence([...good, driver("other", "2")]), ["one driver per attempt"]],
  ["no executor replaces the killed one", evidence(good.slice(0, 3)), ["a killed executor was replaced"]],
  [
    "the executor ended with another exit code",
    evidence([driver("driver", "1"), executor(1, 1), executor(2, 0), executor(3, 0)]),
    ["a killed executor was replaced"],
  ],
  [
    "no invocation continues after the kill",
    evidence(good, { deeds: { ...deeds, tookOver: undefined } }),
    ["an invocation continued after the kill"],
  ],
  ["a state is missing", evidence(good, { states: ["RUNNING", "COMPLETED"] }), ["the application is COMPLETED"]],
  [
    "the application fails",
    evidence(good, { states: ["SUBMITTED", "RUNNING", "FAILING", "FAILED"] }),
    ["the application is COMPLETED"],
  ],
  ["the log has no result", evidence(good, { log: "Pi is roughly nothing" }), ["the driver's log is readable"]],
];

for (const [name, given, expected] of cases)
  test(`when ${name}, ${expected.length === 0 ? "all claims hold" : `not: ${expected.join()}`}`, () =>
    assert.deepEqual(refuted(given), expected));
