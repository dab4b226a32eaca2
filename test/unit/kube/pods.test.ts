/** Tests which statuses of a pod are read: one of another form counts as empty. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { podStatus } from "../../../shared/kube/pods.ts";

const podWith = (status: unknown) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "one" }, status });

const container = { name: "c", ready: true, state: { running: { startedAt: "2026-01-01T00:00:00Z" } } };
const terminated = { exitCode: 137, reason: "OOMKilled", message: "m", finishedAt: "2026-01-01T00:00:00Z" };
const condition = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: "r" };

describe("the status of a pod", () => {
  const forms: readonly object[] = [
    {},
    { phase: "Running", hostIP: "10.0.0.1", somethingNew: { of: ["a", "later", "version"] } },
    { reason: "Evicted", message: "m", startTime: "2026-01-01T00:00:00Z", podIP: "10.0.0.2" },
    { startTime: null, podIP: null, containerStatuses: null, initContainerStatuses: null, conditions: null },
    { containerStatuses: [container, { name: "d" }], initContainerStatuses: [], conditions: [condition] },
    { containerStatuses: [{ ...container, state: { terminated } }] },
    { containerStatuses: [{ ...container, state: { terminated: { exitCode: 0, finishedAt: null } } }] },
    { containerStatuses: [{ ...container, state: { waiting: { reason: "ErrImagePull", message: "m" } } }] },
  ];
  for (const status of forms)
    test(`is read as it is: ${JSON.stringify(status)}`, () => {
      assert.deepEqual(podStatus(podWith(status)), status);
    });

  const others: readonly unknown[] = [
    undefined,
    null,
    "Running",
    [],
    ...["phase", "reason", "message", "startTime", "podIP"].map((field) => ({ phase: "Running", [field]: 7 })),
    ...["phase", "reason", "message"].map((field) => ({ phase: "Running", [field]: null })),
    ...["containerStatuses", "initContainerStatuses", "conditions"].flatMap((field) => [
      { phase: "Running", [field]: {} },
      { phase: "Running", [field]: [7] },
      { phase: "Running", [field]: [{}] },
    ]),
    ...[7, { terminated: {} }, { terminated: { exitCode: "1" } }, { terminated: { ...terminated, reason: 7 } }].map(
      (state) => ({ phase: "Running", containerStatuses: [{ name: "c", state }] }),
    ),
    ...[{ finishedAt: 7 }, { message: {} }].map((field) => ({
      phase: "Running",
      containerStatuses: [{ name: "c", state: { terminated: { ...terminated, ...field } } }],
    })),
    { phase: "Running", containerStatuses: [{ name: "c", state: { waiting: { reason: 7 } } }] },
    { phase: "Running", containerStatuses: [{ name: "c", state: { waiting: "soon" } }] },
    ...["type", "status", "reason", "message", "lastTransitionTime"].map((field) => ({
      phase: "Running",
      conditions: [{ ...condition, [field]: 7 }],
    })),
    { phase: "Running", conditions: [{ type: "Ready" }] },
  ];
  for (const status of others)
    test(`of another form counts as empty: ${JSON.stringify(status)}`, () => {
      assert.deepEqual(podStatus(podWith(status)), {});
    });
});
