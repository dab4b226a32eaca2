/** Tables of queues, and the reason of a failed JobFlow: what is not known is no zero and no silence. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { queueTable } from "../../../../shared/cli/vcctl/tables.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { jobFlowInspection } from "../../../../shared/volcano/flow/inspection.ts";

const made = (kind: string, more: object): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind },
  metadata: { name: "q", uid: "u", resourceVersion: "1" },
  ...more,
});

test("a queue whose groups cannot be listed shows no counts, and one without groups zeros", () => {
  const queue = made("Queue", { spec: { weight: 1 }, status: { state: "Open" } });
  const cells = (groups: readonly Stored[] | undefined) =>
    queueTable([queue], groups).split("\n")[1]?.trim().split(/ +/);
  assert.deepEqual(cells(undefined), ["q", "1", "Open", "-", "-", "-", "-", "-"]);
  assert.deepEqual(cells([]), ["q", "1", "Open", "0", "0", "0", "0", "0"]);
});

test("a failed flow names the jobs that failed", () => {
  const messageOf = (phase: string, failedJobs: readonly string[]) =>
    jobFlowInspection.stateOf(made("JobFlow", { status: { state: { phase }, failedJobs } })).message;
  assert.equal(messageOf("Failed", ["f-a"]), "job f-a failed");
  assert.equal(messageOf("Failed", ["f-a", "f-b"]), "jobs f-a, f-b failed");
  assert.deepEqual([messageOf("Failed", []), messageOf("Running", [])], [undefined, undefined]);
});
