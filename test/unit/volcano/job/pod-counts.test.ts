/** Counts of pods: a pod that is being deleted counts only as terminating. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { podPhaseOf, tallyOf } from "../../../../shared/volcano/job/pods.ts";

test("a pod that is being deleted counts as terminating only", () => {
  const pods = [
    { task: "a", phase: "Running", terminating: false },
    { task: "a", phase: "Running", terminating: true },
    { task: "b", phase: "Succeeded", terminating: false },
  ] as const;
  const { running, succeeded, terminating, byTask } = tallyOf(pods, 2);
  assert.deepEqual({ running, succeeded, terminating }, { running: 1, succeeded: 1, terminating: 1 });
  assert.deepEqual(byTask, { a: { Running: 1 }, b: { Succeeded: 1 } });
});

test("an unknown pod phase counts as Unknown", () => {
  assert.deepEqual(
    [podPhaseOf("Running"), podPhaseOf(undefined), podPhaseOf("Odd")],
    ["Running", "Unknown", "Unknown"],
  );
});
