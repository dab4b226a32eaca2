/** Which listed objects need no step of a process that starts: unchanged ones at their end, whose records rest. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { restingIn } from "../../../../shared/deployments/resync/rest-check.ts";
import type { Hint } from "../../../../shared/forward/resync.ts";
import { sparkApplicationWatcher } from "../../../../shared/spark/application/watches.ts";
import { hint } from "../../../support/hint.ts";

const key = { cluster: "c", kind: "SparkApplication", namespace: "ns", name: "pi" };
const { kind, resource } = sparkApplicationWatcher;

type Change = { readonly uid?: string; readonly generation?: number; readonly deletionTimestamp?: string };

const application = (change: Change = {}, state = "COMPLETED"): Stored => ({
  ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind, status: { applicationState: { state } } },
  metadata: { name: "pi", namespace: "ns", uid: "u1", generation: 2, resourceVersion: "9", ...change },
});

const checkWith = async (hints: readonly Hint[]): Promise<boolean[]> => {
  const transport = {
    send: () => Promise.reject(new Error("asked")),
    stream: () => Promise.reject(new Error("asked")),
  };
  const operators = [sparkApplicationWatcher];
  const resting = restingIn({ transport, hints: async () => hints, operators, report: () => {}, now: () => 1_000 });
  const interests = sparkApplicationWatcher.watches.slice(0, 1).map((watch) => ({ kind, scope: undefined, watch }));
  const subject = {
    resource,
    selector: undefined,
    field: undefined,
    interests,
    optional: true,
    trim: (one: Stored) => one,
  };
  const rests = await resting({ subject, namespace: undefined });
  const changed = [{}, { generation: 3 }, { uid: "u2" }, { deletionTimestamp: "2026-11-27T10:00:00Z" }];
  return [...changed.map((change) => rests(application(change), key)), rests(application({}, "RUNNING"), key)];
};

test("an ended object needs no step while its record rests, and one that has changed, or has not ended, does", async () => {
  assert.deepEqual(await checkWith([hint()]), [true, false, false, false, false]);
});

test("each object needs a step without a record, or where its record does not rest", async () => {
  const none = [false, false, false, false, false];
  assert.deepEqual(await checkWith([]), none);
  assert.deepEqual(await checkWith([hint({ rests: false })]), none);
});
