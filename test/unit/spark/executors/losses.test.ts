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
  ["it is being deleted and still runs", { deletion }, "lives"],
  ["its node does not answer", { unready: asked }, "lives"],
  ["exit 0", { phase: "Succeeded", exit: 0 }, "finished"],
  ["succeeded, without a container status", { phase: "Succeeded", container: null }, "finished"],
  ["exit 1", { ...failed, exit: 1 }, "failed"],
  ["an uncaught exception", { ...failed, exit: 50 }, "failed"],
  ["an unknown exit code", { ...failed, exit: 77 }, "failed"],
  ["OutOfMemoryError", { ...failed, exit: 52 }, "memory"],
  ["OOMKilled", { ...failed, exit: 137, because: "OOMKilled" }, "memory"],
  [
    "OOMKilled during its deletion",
    { ...failed, exit: 137, because: "OOMKilled", deletion, finishedAt: later },
    "memory",
  ],
  ["SIGKILL", { ...failed, exit: 137 }, "killed"],
  ["SIGTERM without a deletion", { ...failed, exit: 143 }, "terminated"],
  ["no local directories", { ...failed, exit: 53 }, "disk"],
  ["heartbeats that the driver refused", { ...failed, exit: 56 }, "disconnected"],
  ["blocks not registered again", { ...failed, exit: 58 }, "disconnected"],
  ["its process has ended, a sidecar runs on", { exit: 1 }, "failed"],
  ["evicted through the API", { ...failed, exit: 143, disrupted: "EvictionByEvictionAPI", deletion }, "evicted"],
  ["evicted by the kubelet", { ...failed, exit: 137, disrupted: "TerminationByKubelet", reason: "Evicted" }, "evicted"],
  ["evicted, as older kubelets say", { ...failed, container: null, reason: "Evicted" }, "evicted"],
  ["preempted", { ...failed, exit: 143, disrupted: "PreemptionByScheduler", deletion }, "preempted"],
  ["its node is gone", { ...failed, disrupted: "DeletionByPodGC", container: null }, "node"],
  ["evicted from a node that does not answer", { ...failed, exit: 137, disrupted: "DeletionByTaintManager" }, "node"],
  ["its node shuts down", { ...failed, exit: 143, reason: "Terminated" }, "node"],
  ["disrupted, and still up", { disrupted: "EvictionByEvictionAPI", deletion }, "lives"],
  ["deleted", { ...failed, exit: 143, deletion, finishedAt: later }, "deleted"],
  ["deleted, within the same second", { ...failed, exit: 143, deletion, finishedAt: asked }, "deleted"],
  ["failed, and deleted within the same second", { ...failed, exit: 1, deletion, finishedAt: asked }, "failed"],
  ["failed, and then deleted", { ...failed, exit: 1, deletion, finishedAt: before }, "failed"],
  ["deleted, without a container status", { ...failed, container: null, deletion }, "deleted"],
  ["failed, without a container status", { ...failed, container: null }, "not yet known"],
  ["a template's own container", { ...failed, exit: 3, container: "mine" }, "failed"],
  ["a template's own container, finished", { phase: "Succeeded", exit: 0, container: "mine" }, "finished"],
  ["a sidecar's end while the executor's container runs", { exit: 0, container: "mine" }, "lives"],
];

const verdict = (pod: Omit<Short, "id">): string => {
  const ending = endingOf(executor({ id: 1, ...pod }));
  return ending === undefined ? "lives" : (ending.reason ?? "not yet known");
};

describe("an executor's end", () => {
  for (const [what, pod, reason] of rows) test(`${what}: ${reason}`, () => assert.equal(verdict(pod), reason));

  test("has the exit code and the time of the pod", () => {
    const pod = executor({ id: 1, ...failed, exit: 137, because: "OOMKilled", finishedAt: later });
    assert.deepEqual(endingOf(pod), { reason: "memory", exitCode: 137, at: Date.parse(later) });
  });

  test("has a text for an exit code that Spark defines", () => {
    assert.deepEqual([exitWords(52), exitWords(77)], ["OutOfMemoryError", undefined]);
  });
});

describe("the table of loss reasons", () => {
  const are = (what: (reason: LossReason) => boolean): readonly LossReason[] => lossReasons.filter(what);

  test("counts only failures and too little memory against the application", () =>
    assert.deepEqual(
      are((reason) => losses[reason].counts),
      ["failed", "killed", "memory"],
    ));

  test("keeps the pods of counted losses, and of disk and unknown losses, for debugging", () =>
    assert.deepEqual(
      are((reason) => losses[reason].keeps),
      ["failed", "killed", "memory", "disk", "unknown"],
    ));

  test("has no replacement for dismissed executors and ended runs, and for finished executors only on demand", () =>
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
