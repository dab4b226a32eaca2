/** Records of executors, and the cleanup of the pods of those that ended. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitIn } from "../../../../support/plans.ts";
import { executor, uidOf } from "../../executors/pods.ts";
import { at, both, failed, living, type Row, status, tested } from "../attended.ts";
import { application, decided, driver, eight, pod, remembered, said } from "../fixtures.ts";

/** Loss reasons of executors. */
const accounts: readonly Row[] = [
  { why: "records new executors without a further read", executors: both, does: [] },
  {
    why: "records a failed executor with an Event and keeps its pod",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...failed, exit: 137, because: "OOMKilled" }],
    does: ["tell ExecutorLost: Executor 2 (pod pi-exec-2, node node-1) was lost: memory (exit 137, SIGKILL)"],
    lost: { memory: 1 },
  },
  {
    why: "records an evicted executor with an Event and deletes its pod",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, ...failed, container: null, reason: "Evicted" }],
    does: ["delete pi-exec-2", "tell ExecutorLost: Executor 2 (pod pi-exec-2, node node-1) was lost: evicted"],
    lost: { evicted: 1 },
  },
  {
    why: "counts a finished executor without an Event and deletes its pod",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, phase: "Succeeded", exit: 0 }],
    does: ["delete pi-exec-2"],
    lost: { finished: 1 },
  },
  {
    why: "keeps the pod of a finished executor until the status names it",
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, phase: "Succeeded", exit: 0 }],
    unnamed: true,
    does: [],
    lost: { finished: 1 },
    wakeAt: eight,
  },
  {
    why: "deletes no pod if the user sets deleteOnTermination to false",
    sparkConf: { "spark.kubernetes.executor.deleteOnTermination": "false" },
    ledger: living([1, 2]),
    executors: [...both.slice(0, 1), { id: 2, phase: "Succeeded", exit: 0 }],
    does: [],
    lost: { finished: 1 },
  },
  {
    why: "records an executor as deleted if two lists do not return it",
    ledger: living([1, 2]),
    executors: both.slice(0, 1),
    looks: ["list pods"],
    does: ["tell ExecutorLost: Executor 2 was lost: deleted"],
    lost: { deleted: 1 },
  },
  {
    why: "counts a missing executor as removed, without an Event, where Spark deletes pods",
    sparkConf: { "spark.kubernetes.executor.deleteOnTermination": "true" },
    ledger: living([1, 2]),
    executors: both.slice(0, 1),
    looks: ["list pods"],
    does: [],
    lost: { removed: 1 },
  },
  {
    why: "deletes the pod of a failed executor after its retention",
    ledger: living([1], { over: "2", lost: { failed: 1 } }),
    annotations: { "rekindle.dev/executor-retention": "1m" },
    executors: [...both.slice(0, 1), { id: 2, phase: "Failed", exit: 1, finishedAt: "2026-11-02T07:59:00Z" }],
    does: ["delete pi-exec-2"],
    lost: { failed: 1 },
  },
];

tested("the ledger of executors", accounts);

const twoGone = [...both.slice(0, 1), { id: 2, ...failed, exit: 137 }].map(executor);
const told = /^tell Warning ExecutorLost \(1 executor 2\)/;

describe("an executor loss", () => {
  test("is saved as unreported before its Event, and as reported in the same step after it", () => {
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

  test("that a dead step saved without its Event gets its Event from the next step", () => {
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
    test(`stays unreported in every save before its Event, where ${whose} creates executors`, () => {
      const { plan, before, earlier } = decided({ object: application(), memory, pods: [pod(), ...twoGone] });
      assert.ok(before.map(said).some((line) => told.test(line)));
      assert.ok(earlier.every(({ memory: { executors } }) => executors?.untold?.includes(2)));
      assert.notEqual(plan.memory.executors?.untold?.includes(2), true);
    });
});

test("a step deletes at most 100 ended pods; the rest waits for their deletion events, without a timer", () => {
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
    why: "counts an executor that finished before its driver ended",
    executors: endedAt("07:59:57", finished),
    lost: { finished: 1 },
  },
  {
    why: "keeps the pod of an executor until the status names it, also under a time to live",
    executors: endedAt("07:59:57", finished),
    ...{ unnamed: true, timeToLiveSeconds: 3_600, does: ends.slice(1), wakeAt: eight },
    lost: { finished: 1 },
  },
  {
    why: "counts an executor that finished in the second of its driver's end",
    executors: endedAt("07:59:58", finished),
    lost: { finished: 1 },
  },
  { why: "does not count an executor that finished after its driver's end", executors: endedAt("07:59:59", finished) },
  {
    why: "records a loss before the driver's end with an Event and keeps the pod for a day",
    executors: endedAt("07:59:57", { exit: 137, because: "OOMKilled" }),
    does: [
      "tell ExecutorLost: Executor 1 (pod pi-exec-1, node node-1) was lost: memory (exit 137, SIGKILL)",
      ...ends.slice(1),
    ],
    lost: { memory: 1 },
    wakeAt: at("07:59:57") + 24 * 3_600_000,
  },
  {
    why: "does not record an executor that was killed in the second of its driver's end",
    executors: endedAt("07:59:58", { exit: 137 }),
  },
].map((row) => ({ does: ends, phase: "COMPLETED", ledger: living([1]), body: done, ...row }));

tested("the ledger at the driver's end", closings);

const over = ["tell SparkDriverFailed", "tell SparkApplicationFailed"];
const evicted = pod({ phase: "Failed", reason: "Evicted" });

/** A driver pod that shows its end without a time: executors that may have ended by it are not losses. */
const undated: readonly Row[] = [
  {
    why: "does not record an executor with exit code 1, which the driver's end may have caused",
    executors: endedAt("07:59:50", { exit: 1 }),
  },
  {
    why: "records an OOMKilled executor, which the driver's end cannot have caused",
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

tested("the ledger at the end of a driver without an end time", undated);
