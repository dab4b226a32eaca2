/** The fields of a watched object that the cache keeps. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { trim } from "../../../shared/kube/trim.ts";

const metadata = {
  name: "p",
  namespace: "ns",
  uid: "u",
  resourceVersion: "1",
  generation: 2,
  creationTimestamp: "2026-11-02T08:00:00Z",
  deletionTimestamp: "2026-11-02T08:01:00Z",
  labels: { a: "b" },
  ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "d", uid: "x" }],
  finalizers: ["f"],
};

describe("trimming", () => {
  it("keeps identity, labels, owners, ends, and how the containers are", () => {
    const pod: Stored = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...metadata,
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{…}", mine: "1" },
        ...{ managedFields: [{ manager: "kubectl" }], selfLink: "/x" },
      },
      spec: { containers: [] },
      status: {
        phase: "Failed",
        reason: "Evicted",
        message: "long",
        conditions: [{ type: "Ready" }],
        containerStatuses: [
          { name: "c", image: "i", state: { terminated: { exitCode: 137, reason: "OOMKilled", message: "long" } } },
          { name: "w", state: { waiting: { reason: "ImagePullBackOff", message: "long" } } },
          { name: "r", state: { running: { startedAt: "2026-11-02T08:00:00Z" } } },
          { name: "s" },
        ],
      },
    };
    assert.deepEqual(trim(pod), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...metadata, annotations: { mine: "1" } },
      status: {
        phase: "Failed",
        reason: "Evicted",
        containerStatuses: [
          { name: "c", state: { terminated: { exitCode: 137, reason: "OOMKilled" } } },
          { name: "w", state: { waiting: { reason: "ImagePullBackOff" } } },
          { name: "r", state: { running: { startedAt: "2026-11-02T08:00:00Z" } } },
          { name: "s", state: {} },
        ],
      },
    });
  });

  it("is harmless where there is nothing to keep, or nonsense", () => {
    const bare = { apiVersion: "v1", kind: "X", metadata: { name: "x", uid: "u", resourceVersion: "1" } };
    assert.deepEqual(trim({ ...bare, spec: { a: 1 }, status: { replicas: 1 } }), bare);
    assert.deepEqual(trim({ ...bare, status: { containerStatuses: [null, 1] } })["status"], {
      containerStatuses: [{}, {}],
    });
    assert.deepEqual(trim({ ...bare, status: "odd" }), bare);
  });

  it("of what is trimmed changes nothing", () => {
    const pod: Stored = {
      apiVersion: "v1",
      kind: "Pod",
      metadata,
      status: { phase: "Running", containerStatuses: [{ name: "c" }] },
    };
    assert.deepEqual(trim(trim(pod)), trim(pod));
  });
});
