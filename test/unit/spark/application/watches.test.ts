/**
 * The watches of applications: what is kept of an application, and the changes of a PodGroup that send the key of its
 * application.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { wholeOf } from "../../../../shared/kube/trim.ts";
import { sparkApplicationWatcher } from "../../../../shared/spark/application/watches.ts";

type Fields = Readonly<Record<string, unknown>>;

const watch = sparkApplicationWatcher.watches.find(({ resource }) => resource.kind === "PodGroup");

const group = (
  status: Fields,
  annotations: Readonly<Record<string, string>> = {},
  kind = "SparkApplication",
): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", status },
  metadata: {
    ...{ name: "spark-app-pg", namespace: "ns", uid: "g", resourceVersion: "1" },
    annotations: { "rekindle.dev/members": "{}", ...annotations },
    ownerReferences: [{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind, name: "app", uid: "u" }],
  },
});

const matters = (before: Stored | undefined, after: Stored): boolean | undefined => {
  const trimmed = (object: Stored): Stored => watch?.trim?.(object) ?? object;
  return watch?.matters(before && trimmed(before), trimmed(after));
};

const waiting = (message: string): Fields => ({
  phase: "Pending",
  conditions: [{ type: "Unschedulable", reason: "NotEnoughResources", message }],
});

test("an application is sent when its group is admitted, evicted, or lacks something else; not for counts of pods", () => {
  const before = group(waiting("needs 2"));
  assert.equal(matters(before, group({ phase: "Inqueue" }, { "rekindle.dev/plan": "{}" })), true);
  assert.equal(matters(before, group(waiting("needs 3"))), true);
  assert.equal(matters(before, group(waiting("needs 2"), { "rekindle.dev/evicted": "{}" })), true);
  assert.equal(matters(group({ phase: "Running", running: 1 }), group({ phase: "Running", running: 2 })), false);
  assert.equal(matters(undefined, before), false);
});

test("a group that states no members, or has another owner, sends no application", () => {
  const { annotations: _, ...metadata } = group({}).metadata;
  assert.equal(watch?.ownerName(group({})), "app");
  assert.equal(watch?.ownerName({ ...group({}), metadata }), undefined);
  assert.equal(watch?.ownerName(group({}, {}, "Job")), undefined);
});

test("an application is kept whole until it has a status", () => {
  const own = sparkApplicationWatcher.watches.find(({ resource }) => resource.kind === "SparkApplication");
  const application: Stored = {
    ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", spec: { sparkVersion: "4.0.1" } },
    metadata: { name: "app", namespace: "ns", uid: "u", resourceVersion: "1" },
  };
  const kept = (object: Stored): Stored | undefined => wholeOf(own?.trim?.(object) ?? object);
  assert.deepEqual(kept(application), application);
  assert.equal(kept({ ...application, status: { submissionAttempts: 1 } }), undefined);
});
