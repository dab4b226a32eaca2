/** An application that waits for the pods of the earlier one of its name says which, and since when they end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { waitingText } from "../../../../../shared/core/waiting-on.ts";
import { decided, pod, remembered } from "../fixtures.ts";

const ending = (one: Stored): Stored => ({
  ...one,
  metadata: { ...one.metadata, deletionTimestamp: "2026-11-02T08:01:00Z", deletionGracePeriodSeconds: 60 },
});

const waitFor = (pods: readonly Stored[]): string => {
  const { next } = decided({ object: undefined, pods, memory: remembered() }).plan;
  return next.do === "wait" && next.waitsFor !== undefined ? waitingText(next.waitsFor) : next.do;
};

const driverPod = pod({ name: "replaced-driver", role: "driver" });
const executorPod = pod({ name: "replaced-exec-1", uid: "e-1", role: "executor", executor: 1 });

test("an ending driver pod of the earlier application is named with the time since when it ends", () => {
  assert.equal(
    waitFor([ending(driverPod)]),
    "the driver pod replaced-driver of the earlier application to end (Terminating since 2026-11-02T08:00:00Z)",
  );
});

test("the driver pod is named before executors", () => {
  assert.equal(
    waitFor([executorPod, driverPod]),
    "the driver pod replaced-driver and 1 further pod of the earlier application to end",
  );
  assert.equal(waitFor([executorPod]), "the executor pod replaced-exec-1 of the earlier application to end");
});
