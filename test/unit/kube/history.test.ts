/** The history of a schedule: an object is deleted only when it is settled, and only as it was judged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { judgedRemoval, prunedAt, settledAt } from "../../../shared/kube/history.ts";
import { sparkApplications } from "../../../shared/spark/schema/resource.ts";

const run = (name: string, second: number): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: {
    name,
    namespace: "team-a",
    uid: `uid-${name}`,
    resourceVersion: "7",
    creationTimestamp: new Date(second * 1_000).toISOString(),
  },
});

test("objects beyond the limits are deleted once they are settled; the others say when the next may be", () => {
  const [old, young, younger] = [run("old", 100), run("young", 190), run("younger", 195)];
  const { due, again } = prunedAt([old, young, younger], 60_000, 200_000);
  assert.deepEqual(due, [old]);
  assert.equal(again, 250_000);
});

test("objects are settled together when the last of them is", () => {
  assert.equal(settledAt([run("old", 100), run("young", 190)], 60_000), 250_000);
  assert.equal(settledAt([], 60_000), Number.NEGATIVE_INFINITY);
});

test("a removal by judgement carries UID and resourceVersion", () => {
  assert.deepEqual(judgedRemoval(sparkApplications, run("old", 100)), {
    do: "delete",
    ref: { resource: sparkApplications, name: "old", namespace: "team-a" },
    uid: "uid-old",
    resourceVersion: "7",
  });
});
