/** A job's pod before its plugins: the gate of queue admission. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { podDraft } from "../../../shared/volcano/pods/pod.ts";

const gate = { name: "scheduling.volcano.sh/queue-allocation-gate" };
const kueue = { name: "kueue.x-k8s.io/admission" };

const gatesOf = (schedulingGates: unknown, placer?: string): unknown => {
  const template = { spec: { containers: [], ...(schedulingGates === undefined ? {} : { schedulingGates }) } };
  const task = { name: "w", replicas: 1, template };
  const owner = { name: "train", namespace: "team", uid: "u" };
  const making = { owner, spec: { tasks: [task], schedulerName: "volcano" }, labels: {}, annotations: {} };
  const { spec } = podDraft(
    { ...making, version: 0, retryCount: 0, forwarding: false, ...(placer === undefined ? {} : { placer }) },
    task,
    0,
  );
  return spec["schedulingGates"];
};

describe("the gate of queue admission in a job's template", () => {
  const rows: readonly (readonly [what: string, given: unknown, placer: string | undefined, kept: unknown])[] = [
    ["stays for Volcano's scheduler, which removes it", [gate], undefined, [gate]],
    [
      "is removed if Rekindle admitted the PodGroup, because no other process would remove it",
      [gate],
      "default-scheduler",
      undefined,
    ],
    ["is removed alone: gates of other controllers stay", [kueue, gate], "default-scheduler", [kueue]],
    ["may be absent", undefined, "default-scheduler", undefined],
  ];
  for (const [what, given, placer, kept] of rows) test(what, () => assert.deepEqual(gatesOf(given, placer), kept));
});
