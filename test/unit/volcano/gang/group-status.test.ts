/** The status of a PodGroup that Rekindle admitted, by its pods. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { groupStatusPatch } from "../../../../shared/volcano/gang/plan.ts";

const group = (
  phase: string,
  annotations: Readonly<Record<string, string>> = { "rekindle.dev/scheduled-by": "default-scheduler" },
  counts = {},
): Stored => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: { name: "g", namespace: "ns", uid: "g", resourceVersion: "1", annotations },
  spec: { minMember: 2 },
  status: { phase, ...counts },
});

const pod = (phase: string, more: object = {}): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "ns", uid: "p", resourceVersion: "1" },
  spec: { nodeName: "n" },
  status: { phase },
  ...more,
});

const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }];
const homeless = pod("Pending", { spec: {}, status: { phase: "Pending", conditions } });
const waiting = pod("Pending", { spec: {} });
const [starting, running, done, failed] = [pod("Pending"), pod("Running"), pod("Succeeded"), pod("Failed")];

const rows: readonly (readonly [string, string, readonly Stored[], string | undefined])[] = [
  ["stays Inqueue until minMember pods have nodes", "Inqueue", [running, waiting], undefined],
  ["becomes Running when minMember pods have nodes", "Inqueue", [starting, starting], "Running"],
  ["stays Inqueue while a pod that never had a node is Unschedulable", "Inqueue", [running, homeless], undefined],
  ["becomes Unknown when too few pods have nodes and one is Unschedulable", "Running", [running, homeless], "Unknown"],
  ["becomes Running again when all pods have nodes again", "Unknown", [running, starting], "Running"],
  ["stays Running when one pod has failed", "Running", [running, failed], "Running"],
  ["becomes Completed when all pods with nodes have succeeded", "Running", [done, done], "Completed"],
  ["that is Pending is not changed", "Pending", [running, running], undefined],
];

const whole = { isWhole: true, now: Date.UTC(2026, 10, 2, 8) };
const part = { ...whole, isWhole: false };

const phaseOf = (patch: ReturnType<typeof groupStatusPatch>): unknown => Object(patch?.["status"])["phase"];

describe("a PodGroup that Rekindle admitted", () => {
  for (const [what, phase, pods, wanted] of rows)
    test(what, () => assert.equal(phaseOf(groupStatusPatch(group(phase), pods, whole)), wanted));

  test("is the only one whose status Rekindle writes: a group of Volcano's scheduler is left alone", () => {
    assert.equal(
      groupStatusPatch(
        { ...group("Inqueue"), metadata: { ...group("").metadata, annotations: {} } },
        [running, running],
        whole,
      ),
      undefined,
    );
  });

  test("stays Inqueue with its plan while a pod of the plan lacks a node, and loses the plan when none does", () => {
    const plan = JSON.stringify({ since: "2026-11-02T08:00:00Z", places: { w: { n: 2 } } });
    const planned = group("Inqueue", { "rekindle.dev/scheduled-by": "default-scheduler", "rekindle.dev/plan": plan });
    assert.equal(groupStatusPatch(planned, [running, running], part), undefined);
    assert.deepEqual(groupStatusPatch(planned, [running, running], whole), {
      metadata: {
        annotations: { "rekindle.dev/plan": null, "rekindle.dev/taken-back": null, "rekindle.dev/evicted": null },
      },
      status: { phase: "Running", running: 2, succeeded: 0, failed: 0 },
    });
  });

  test("gets its pod counts once", () => {
    const counts = { running: 1, succeeded: 1, failed: 0 };
    assert.deepEqual(groupStatusPatch(group("Running"), [running, done], whole), {
      status: { phase: "Running", ...counts },
    });
    assert.equal(
      groupStatusPatch(group("Running", undefined, { running: 1, succeeded: 1 }), [running, done], whole),
      undefined,
    );
  });
});
