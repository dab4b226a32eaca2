/** Records of executors, and the cleanup of the pods of those that ended. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitIn } from "../../../../support/plans.ts";
import { executor, uidOf } from "../../executors/pods.ts";
import { at, both, failed, living, type Row, status, tested } from "../attended.ts";
import { application, decided, driver, eight, pod, remembered, said } from "../fixtures.ts";

/** Loss reasons of executors. */
const accounts: readonly Row[] = [
  { why: "executors that are new are remembered, and nothing is asked", executors: both, does: [] },
  {
    why: "an executor's own failure is recorded, told and kept",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...failed, exit: 137, because: "OOMKilled" }],
    does: ["tell ExecutorLost: Executor 2 (pod pi-exec-2, node node-1) was lost: memory (exit 137, SIGKILL)"],
    lost: { memory: 1 },
  },
  {
    why: "what the application did not cause is recorded and told, and its pod deleted",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...failed, container: null, reason: "Evicted" }],
    does: ["delete pi-exec-2", "tell ExecutorLost: Executor 2 (pod pi-exec-2, node node-1) was lost: evicted"],
    lost: { evicted: 1 },
  },
  {
    why: "one that is done is only counted, and its pod deleted",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, phase: "Succeeded", exit: 0 }],
    does: ["delete pi-exec-2"],
    lost: { finished: 1 },
  },
  {
    why: "the pod of one that the status does not name yet stays until it does, or nobody could tell of it",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, phase: "Succeeded", exit: 0 }],
    unnamed: true,
    does: [],
    lost: { finished: 1 },
    wakeAt: eight,
  },
  {
    why: "where the user says what becomes of ended executors, nothing is deleted",
    sparkConf: { "spark.kubernetes.executor.deleteOnTermination": "false" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, phase: "Succeeded", exit: 0 }],
    does: [],
    lost: { finished: 1 },
  },
  {
    why: "one that two looks do not show is lost",
    ledger: living([1, 2]),
    executors: both.slice(0, 1),
    looks: ["list pods"],
    does: ["tell ExecutorLost: Executor 2 was lost: deleted"],
    lost: { deleted: 1 },
  },
  {
    why: "where Spark deletes them, nobody knows why one is gone, and it is only counted",
    sparkConf: { "spark.kubernetes.executor.deleteOnTermination": "true" },
    ledger: living([1, 2]),
    executors: both.slice(0, 1),
    looks: ["list pods"],
    does: [],
    lost: { removed: 1 },
  },
  {
    why: "a failure is kept for so long, and then deleted",
    ledger: living([1], { over: "2", lost: { failed: 1 } }),
    annotations: { "rekindle.dev/executor-retention": "1m" },
    executors: [...both.slice(0, 1), { id: 2, phase: "Failed", exit: 1, finishedAt: "2026-11-02T07:59:00Z" }],
    does: ["delete pi-exec-2"],
    lost: { failed: 1 },
  },
];

tested("the account of executors", accounts);

const twoGone = [...both.slice(0, 1), { id: 2, ...failed, exit: 137 }].map(executor);
const told = /^tell Warning ExecutorLost \(1 executor 2\)/;

describe("a loss", () => {
  test("is remembered with that it may not have been told, and when it was, without: nobody may come by for long", () => {
    const memory = remembered({ driver, executors: living([1, 2]) });
    const given = { object: application(), memory, pods: [pod(), ...twoGone] };
    const { plan, before } = decided(given);
    assert.equal(before.map(said).filter((line) => told.test(line)).length, 1);
    assert.equal(
      plan.stages
        .flat()
        .map(said)
        .filter((line) => told.test(line)).length,
      0,
    );
    assert.deepEqual([plan.memory.executors?.over, plan.memory.executors?.untold], ["2", undefined]);
  });

  test("that somebody recorded, and died before it was told, is told by the next step", () => {
    const losses = [{ id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "killed" as const, exitCode: 137, at: eight }];
    const ledger = living([1], { over: "2", lost: { killed: 1 }, losses, untold: [2] });
    const memory = remembered({ driver, executors: ledger });
    const { plan, before } = decided({ object: application(), memory, pods: [pod(), ...twoGone] });
    assert.equal(before.map(said).filter((line) => told.test(line)).length, 1);
    assert.deepEqual([plan.memory.executors?.lost, plan.memory.executors?.untold], [{ killed: 1 }, undefined]);
  });

  const killed = { id: 2, uid: uidOf(2), pod: "pi-exec-2", reason: "killed" as const, exitCode: 137, at: eight };
  const owed = living([1], { over: "2", lost: { killed: 1 }, losses: [killed], untold: [2] });
  const allotment = { attempt: 1, prefix: "pi", next: 1003, alive: "1001", underway: [], listens: true };
  const rows = [
    { whose: "the driver", memory: remembered({ driver, executors: owed }) },
    { whose: "Rekindle", memory: remembered({ driver, executors: owed, allotment }) },
  ];
  for (const { whose, memory } of rows)
    test(`is not forgotten before it is told, where ${whose} makes executors: who tells it may die as well`, () => {
      const { plan, before, saved } = decided({ object: application(), memory, pods: [pod(), ...twoGone] });
      assert.ok(before.map(said).some((line) => told.test(line)));
      assert.ok(saved.every(({ executors }) => executors?.untold?.includes(2)));
      assert.notEqual(plan.memory.executors?.untold?.includes(2), true);
    });
});

test("of more ended pods than one step deletes, the rest waits for the news of those, and for no timer", () => {
  const ids = Array.from({ length: 130 }, (_, at) => at + 1);
  const gone = ids.map((id) => executor({ id, phase: "Succeeded", exit: 0 }));
  const executorState = Object.fromEntries(gone.map(({ metadata }) => [metadata.name, "COMPLETED"]));
  const object = application({ status: { ...status, executorState } });
  const memory = remembered({ driver, executors: { attempt: 1, over: "1-130", lost: { finished: 130 } } });
  const { plan, before } = decided({ object, memory, pods: [pod(), ...gone] });
  const deletions = [...before, ...plan.stages.flat()].map(said).filter((line) => line.startsWith("delete pods"));
  assert.deepEqual([deletions.length, waitIn(plan).pollMs, waitIn(plan).wakeAt], [100, undefined, undefined]);
});

const done = pod({ phase: "Succeeded", exitCode: 0, finishedAt: "2026-11-02T07:59:58Z" });
const endedAt = (time: string, more: object) => [
  { id: 1, phase: "Failed", finishedAt: `2026-11-02T${time}Z`, ...more },
];
const ends = ["delete pi-exec-1", "tell SparkDriverCompleted", "tell SparkApplicationCompleted"];
const finished = { phase: "Succeeded", exit: 0 };

/** Executor pods at the end of their driver. */
const closings: readonly Row[] = [
  {
    why: "one that was done before its driver ended is counted, whoever sees it first",
    executors: endedAt("07:59:57", finished),
    lost: { finished: 1 },
  },
  {
    why: "one that the status does not name yet is cleaned away as soon as it does, however long the application stays",
    executors: endedAt("07:59:57", finished),
    ...{ unnamed: true, timeToLiveSeconds: 3_600, does: ends.slice(1), wakeAt: eight },
    lost: { finished: 1 },
  },
  {
    why: "one that was done in the second in which its driver ended is counted, for its driver told it to end",
    executors: endedAt("07:59:58", finished),
    lost: { finished: 1 },
  },
  { why: "one that was done later ended with its driver", executors: endedAt("07:59:59", finished) },
  {
    why: "one that was lost before its driver ended is recorded, told and kept for a day",
    executors: endedAt("07:59:57", { exit: 137, because: "OOMKilled" }),
    does: [
      "tell ExecutorLost: Executor 1 (pod pi-exec-1, node node-1) was lost: memory (exit 137, SIGKILL)",
      ...ends.slice(1),
    ],
    lost: { memory: 1 },
    wakeAt: at("07:59:57") + 24 * 3_600_000,
  },
  {
    why: "one that was killed in the second in which its driver ended is none of the losses",
    executors: endedAt("07:59:58", { exit: 137 }),
  },
].map((row) => ({ does: ends, phase: "COMPLETED", ledger: living([1]), body: done, ...row }));

tested("the account at the driver's end", closings);

const over = ["tell SparkDriverFailed", "tell SparkApplicationFailed"];
const evicted = pod({ phase: "Failed", reason: "Evicted" });

/** A driver pod that shows its end without a time: executors that may have ended by it are not losses. */
const undated: readonly Row[] = [
  {
    why: "one that failed may have done so for its driver's end, and is none of the losses",
    executors: endedAt("07:59:50", { exit: 1 }),
  },
  {
    why: "one that exceeded its memory did not for its driver's end, and is recorded",
    executors: endedAt("07:59:50", { exit: 137, because: "OOMKilled" }),
    does: ["tell ExecutorLost: Executor 1 (pod pi-exec-1, node node-1) was lost: memory (exit 137, SIGKILL)", ...over],
    lost: { memory: 1 },
  },
].map((row) => ({
  does: over,
  wakeAt: at("07:59:50") + 24 * 3_600_000,
  phase: "FAILED",
  ledger: living([1]),
  body: evicted,
  ...row,
}));

tested("the account at the end of a driver that nobody dates", undated);
