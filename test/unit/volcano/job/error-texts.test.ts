/** Event reasons for a server's answers: those by which upstream's users filter. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Doing, Effect, Refusal } from "../../../../shared/core/plan.ts";
import { claims, pods, services } from "../../../../shared/kube/resources.ts";
import { refusalWord, troubleWord } from "../../../../shared/volcano/job/events.ts";
import { jobs, podGroups } from "../../../../shared/volcano/schema/resource.ts";

describe("the Event of a refusal names the refused object", () => {
  const made = (resource: typeof pods): Effect => ({
    do: "create",
    object: { apiVersion: "v1", kind: resource.kind, metadata: { name: "x" } },
    resource,
    owner: "u",
  });
  const patched = (patch: Readonly<Record<string, unknown>>): Effect => ({
    ...{ do: "patch", ref: { resource: jobs, name: "j" }, uid: "u", resourceVersion: "1", patch },
  });
  const rows: readonly (readonly [string, Effect, string])[] = [
    ["a pod", made(pods), "FailedCreate: Error creating pods: no"],
    ["a group", made(podGroups), "PodGroupError: Failed to create PodGroup, err: no"],
    ["a claim", made(claims), "PVCError: Failed to create PVC, err: no"],
    ["an annotation of the job", patched({ metadata: {} }), "JobUpdateError: Failed to update job, err: no"],
    ["the name of a claim", patched({ spec: {} }), "PVCError: Failed to create PVC, err: no"],
    ["an object of a plugin", made(services), "PluginError: Execute plugin when job add failed, err: no"],
  ];
  for (const [what, effect, want] of rows)
    test(what, () => {
      const refusal: Refusal = { effect, status: 422, reason: "Invalid", message: "no" };
      const { reason, message } = refusalWord([refusal]);
      assert.equal(`${reason}: ${message}`, want);
    });
});

describe("the Event of lasting trouble names the failed call", () => {
  const rows: readonly (readonly [Doing["do"], string, string | undefined])[] = [
    ["create", "Pod", "FailedCreate: Error creating pods: no"],
    ["delete", "Pod", "FailedDelete: Error deleting pods: no"],
    ["status", "Job", "JobStatusError: Failed to update job status, err: no"],
    ["create", "PodGroup", "PodGroupError: Failed to create PodGroup, err: no"],
    ["create", "PersistentVolumeClaim", "PVCError: Failed to create PVC, err: no"],
    ["create", "Secret", "PluginError: Execute plugin when job add failed, err: no"],
    ["delete", "Command", undefined],
    ["record", "Job", undefined],
  ];
  for (const [what, kind, want] of rows)
    test(`${what} ${kind}: ${want ?? "the server's own text"}`, () => {
      const word = troubleWord({ reason: "Forbidden", message: "no", doing: { do: what, kind } });
      assert.equal(word && `${word.reason}: ${word.message}`, want);
    });

  test("trouble without a failed call: the server's own text", () => {
    assert.equal(troubleWord({ reason: "Timeout", message: "no" }), undefined);
  });
});
