/** Loss reasons: the evidence of the pod, row by row, and the meaning of each reason. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  endingOf,
  executorId,
  exitWords,
  type LossReason,
  losses,
  lossReasons,
} from "../../../../shared/spark/executors/losses.ts";
import { executor, type Short } from "./pods.ts";

type Row = readonly [what: string, pod: Omit<Short, "id">, reason: LossReason | "lives" | "not yet known"];

const failed = { phase: "Failed" } as const;
/** The deletion timestamp of a pod that was deleted at 08:00:00 with a grace of 30 s. */
const deletion = "2026-11-02T08:00:30Z";
const [before, asked, later] = ["2026-11-02T07:59:59Z", "2026-11-02T08:00:00Z", "2026-11-02T08:00:01Z"];

const rows: readonly Row[] = [
  ["it runs", {}, "lives"],
  ["it waits for its image", { phase: "Pending", waiting: "ImagePullBackOff" }, "lives"],
  ["it is told to end, and has not", { deletion }, "lives"],
  ["its node does not answer", { unready: asked }, "lives"],
  ["exit 0", { phase: "Succeeded", exit: 0 }, "finished"],
  ["succeeded, and says no more", { phase: "Succeeded", container: null }, "finished"],
  ["exit 1", { ...failed, exit: 1 }, "failed"],
  ["an uncaught exception", { ...failed, exit: 50 }, "failed"],
  ["a status that nobody knows", { ...failed, exit: 77 }, "failed"],
  ["OutOfMemoryError", { ...failed, exit: 52 }, "memory"],
  ["OOMKilled", { ...failed, exit: 137, because: "OOMKilled" }, "memory"],
  ["OOMKilled on its way out", { ...failed, exit: 137, because: "OOMKilled", deletion, finishedAt: later }, "memory"],
  ["SIGKILL", { ...failed, exit: 137 }, "killed"],
  ["SIGTERM by nobody", { ...failed, exit: 143 }, "terminated"],
  ["no local directories", { ...failed, exit: 53 }, "disk"],
  ["no heartbeats taken", { ...failed, exit: 56 }, "disconnected"],
  ["blocks not registered again", { ...failed, exit: 58 }, "disconnected"],
  ["its process has ended, a sidecar runs on", { exit: 1 }, "failed"],
  ["evicted through the API", { ...failed, exit: 143, disrupted: "EvictionByEvictionAPI", deletion }, "evicted"],
  ["evicted by the kubelet", { ...failed, exit: 137, disrupted: "TerminationByKubelet", reason: "Evicted" }, "evicted"],
  ["evicted, as older kubelets say", { ...failed, container: null, reason: "Evicted" }, "evicted"],
  ["preempted", { ...failed, exit: 143, disrupted: "PreemptionByScheduler", deletion }, "preempted"],
  ["its node is gone", { ...failed, disrupted: "DeletionByPodGC", container: null }, "node"],
  ["taken from a node that does not answer", { ...failed, exit: 137, disrupted: "DeletionByTaintManager" }, "node"],
  ["its node shuts down", { ...failed, exit: 143, reason: "Terminated" }, "node"],
  ["disrupted, and still up", { disrupted: "EvictionByEvictionAPI", deletion }, "lives"],
  ["deleted", { ...failed, exit: 143, deletion, finishedAt: later }, "deleted"],
  ["deleted, within the same second", { ...failed, exit: 143, deletion, finishedAt: asked }, "deleted"],
  ["failed, and deleted within the same second", { ...failed, exit: 1, deletion, finishedAt: asked }, "failed"],
  ["failed, and then deleted", { ...failed, exit: 1, deletion, finishedAt: before }, "failed"],
  ["deleted, and says no more", { ...failed, container: null, deletion }, "deleted"],
  ["failed, and says no more", { ...failed, container: null }, "not yet known"],
  ["a template's own container", { ...failed, exit: 3, container: "mine" }, "failed"],
  ["a template's own container, done", { phase: "Succeeded", exit: 0, container: "mine" }, "finished"],
  ["a sidecar's end, the executor's own being another's", { exit: 0, container: "mine" }, "lives"],
];

const verdict = (pod: Omit<Short, "id">): string => {
  const ending = endingOf(executor({ id: 1, ...pod }));
  return ending === undefined ? "lives" : (ending.reason ?? "not yet known");
};

describe("an executor's end", () => {
  for (const [what, pod, reason] of rows) test(`${what}: ${reason}`, () => assert.equal(verdict(pod), reason));

  test("is told with its status and time as the pod has them", () => {
    const pod = executor({ id: 1, ...failed, exit: 137, because: "OOMKilled", finishedAt: later });
    assert.deepEqual(endingOf(pod), { reason: "memory", exitCode: 137, at: Date.parse(later) });
  });

  test("has words where Spark has a meaning for it", () => {
    assert.deepEqual([exitWords(52), exitWords(77)], ["OutOfMemoryError", undefined]);
  });
});

describe("what a reason means", () => {
  const are = (what: (reason: LossReason) => boolean): readonly LossReason[] => lossReasons.filter(what);

  test("only what the application did, or was too small for, counts against it", () =>
    assert.deepEqual(
      are((reason) => losses[reason].counts),
      ["failed", "killed", "memory"],
    ));

  test("what counts is kept for debugging, and what somebody must look into", () =>
    assert.deepEqual(
      are((reason) => losses[reason].keeps),
      ["failed", "killed", "memory", "disk", "unknown"],
    ));

  test("nothing is put in the place of one too many or of an ended run, and of one that is done only if it is asked for", () =>
    assert.deepEqual(
      [are((reason) => losses[reason].replaced === "no"), are((reason) => losses[reason].replaced === "ask")],
      [["dismissed", "driverEnded"], ["finished"]],
    ));
});

describe("an executor's id", () => {
  const ids: readonly (readonly [label: string, id: number | undefined])[] = [
    ["1", 1],
    ["1001", 1_001],
    ["EXECID", undefined],
    ["-1", undefined],
    ["1234567890", undefined],
    ["", undefined],
  ];
  for (const [label, id] of ids)
    test(`${JSON.stringify(label)} is ${id}`, () => assert.equal(executorId(executor({ id: label })), id));
});
