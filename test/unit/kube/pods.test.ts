/** Tests how the status of a pod is read. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { podStatus, startedAt } from "../../../shared/kube/pods.ts";

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

  test("is empty where the server answered none, and for an object of another kind", () => {
    assert.deepEqual(podStatus(podWith(undefined)), {});
    assert.deepEqual(podStatus(undefined), {});
    assert.deepEqual(podStatus({ ...podWith({ phase: "Running" }), kind: "PodGroup" }), {});
  });
});

describe("the start of a pod", () => {
  const startTime = "2026-01-01T00:00:00Z";
  const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;
  const waiting = { name: "c", state: { waiting: { reason: "ImagePullBackOff" } } };
  const rows: readonly (readonly [string, object, string | undefined])[] = [
    ["no node has it", { phase: "Pending" }, undefined],
    ["its image cannot be pulled", { phase: "Pending", startTime, containerStatuses: [waiting] }, undefined],
    [
      "a container runs, another waits",
      { containerStatuses: [waiting, { name: "d", state: { running: { startedAt: at(3) } } }] },
      at(3),
    ],
    [
      "its containers have ended",
      {
        containerStatuses: [5, 4].map((one) => ({
          name: `${one}`,
          state: { terminated: { ...terminated, startedAt: at(one) } },
        })),
      },
      at(4),
    ],
    ["it runs and shows no container", { phase: "Running", startTime }, startTime],
    ["it failed before any container started", { phase: "Failed", startTime }, undefined],
  ];
  for (const [when, status, expected] of rows)
    test(`${expected === undefined ? "is none" : "is known"} when ${when}`, () => {
      assert.equal(startedAt(podWith(status)), expected === undefined ? undefined : Date.parse(expected));
    });
});
