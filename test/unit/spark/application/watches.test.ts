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

test("an application is sent when Kueue admits or evicts its own Workload or one of its growths", () => {
  const ofWorkloads = sparkApplicationWatcher.watches.find(({ resource }) => resource.kind === "Workload");
  const workload = (types: readonly string[], owner = "SparkApplication", labels = {}): Stored => ({
    ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload", spec: { podSets: [{ name: "executor" }] } },
    metadata: {
      ...{ name: "one", namespace: "ns", uid: "w", resourceVersion: "1", labels },
      ownerReferences: [{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: owner, name: "app", uid: "u" }],
    },
    status: {
      conditions: types.map((type) => ({ type, status: "True", message: "some", lastTransitionTime: "some" })),
    },
  });
  const isSent = (before: readonly string[] | undefined, after: readonly string[]): boolean | undefined => {
    const [from, to] = [before && workload(before), workload(after)].map((one) => one && ofWorkloads?.trim?.(one));
    return to && ofWorkloads?.matters(from, to);
  };
  assert.equal(isSent([], ["QuotaReserved", "Admitted"]), true);
  assert.equal(isSent(["QuotaReserved", "Admitted"], ["QuotaReserved", "Admitted", "Evicted"]), true);
  assert.equal(isSent(["QuotaReserved", "Admitted"], ["QuotaReserved", "Admitted", "PodsReady"]), false);
  // The step that created it knows it.
  assert.equal(isSent(undefined, []), false);
  assert.equal(isSent(undefined, ["QuotaReserved", "Admitted"]), true);
  assert.equal(ofWorkloads?.ownerName(workload([])), "app");
  const growth = workload([], "Workload", { "sparkoperator.k8s.io/app-name": "grown" });
  assert.equal(ofWorkloads?.ownerName(growth), "grown");
  assert.equal(ofWorkloads?.ownerName(workload([], "Job")), undefined);
});

test("news of an executor may wait while its driver alone replaces it, and not where a step may have to act", () => {
  const ofPods = sparkApplicationWatcher.watches.find(({ resource }) => resource.kind === "Pod");
  type More = Readonly<{ role?: string; annotations?: Record<string, string>; deletionTimestamp?: string }>;
  const pod = (status: Fields, { role = "executor", ...metadata }: More = {}): Stored => ({
    ...{ apiVersion: "v1", kind: "Pod", status },
    metadata: {
      ...{ name: "p", namespace: "ns", uid: "p", resourceVersion: "1", ...metadata },
      labels: { "spark-role": role, "sparkoperator.k8s.io/app-name": "app" },
    },
  });
  const patience = (before: Stored | undefined, after: Stored | undefined): string | undefined =>
    ofPods?.patience?.(before, after);
  const [pending, running] = [pod({ phase: "Pending" }), pod({ phase: "Running" })];
  const failed = pod({ phase: "Failed" });
  const ending = pod({ phase: "Running" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  assert.equal(patience(undefined, pending), "long");
  assert.equal(patience(pending, running), "brief");
  assert.equal(patience(running, failed), "brief");
  assert.equal(patience(running, ending), "brief");
  // A step may wait for their end.
  for (const last of [running, ending, failed]) assert.equal(patience(last, undefined), "moment");
  const held = { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False" }] };
  const stuck = {
    phase: "Pending",
    containerStatuses: [{ name: "c", state: { waiting: { reason: "ImagePullBackOff" } } }],
  };
  const unready = { phase: "Running", conditions: [{ type: "Ready", status: "False" }] };
  for (const status of [held, stuck, unready]) assert.equal(patience(pending, pod(status)), undefined);
  const leaving = { annotations: { "rekindle.dev/leaving": "2026-01-01T00:00:00Z" } };
  assert.equal(patience(running, pod({ phase: "Running" }, leaving)), undefined);
  const own = { annotations: { "rekindle.dev/executors": "own" } };
  assert.equal(patience(undefined, pod({ phase: "Pending" }, own)), undefined);
  assert.equal(patience(pod({ phase: "Running" }, own), undefined), undefined);
  assert.equal(
    patience(pod({ phase: "Pending" }, { role: "driver" }), pod({ phase: "Running" }, { role: "driver" })),
    undefined,
  );
});
