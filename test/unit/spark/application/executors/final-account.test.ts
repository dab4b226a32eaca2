/**
 * A run that its user interrupts: earlier losses are recorded and reported before any deletion, and nothing else is.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Memory } from "../../../../../shared/spark/application/state/memory.ts";
import type { Ledger } from "../../../../../shared/spark/executors/ledger.ts";
import { executor } from "../../executors/pods.ts";
import { living } from "../attended.ts";
import { application, decided, driver, pod, remembered, said, spec } from "../fixtures.ts";

const suspended = application({ spec: { ...spec, suspend: true } });
const changed = application({ spec: { ...spec, arguments: ["7"] }, metadata: { generation: 2 } });

const lostFields = { id: 1, phase: "Failed", exit: 137, because: "OOMKilled", finishedAt: "2026-11-02T07:59:58Z" };
const lost = executor(lostFields);
const killed = executor({ id: 1, phase: "Failed", exit: 137, finishedAt: "2026-11-02T07:59:58Z" });
const undated = executor({ id: 1, phase: "Failed", container: null, reason: "Evicted" });
const runs = executor({ id: 2 });

type Row = {
  readonly why: string;
  readonly object?: Stored;
  readonly driver?: readonly Stored[];
  readonly executor?: Stored;
  readonly state?: Memory["state"];
  readonly ledger?: Ledger;
  readonly told: readonly string[];
  readonly lost?: Ledger["lost"];
};

const memoryText = "Executor 1 (pod pi-exec-1, node node-1) was lost: memory (exit 137, SIGKILL)";
const killedText = "Executor 1 (pod pi-exec-1, node node-1) was lost: killed (exit 137, SIGKILL)";

const rows: readonly Row[] = [
  {
    why: "includes an earlier loss, which is reported as an Event before the deletions",
    told: [memoryText],
    lost: { memory: 1 },
  },
  {
    why: "includes an earlier loss if the spec has changed",
    object: changed,
    told: [memoryText],
    lost: { memory: 1 },
  },
  {
    why: "includes a killed executor while its driver lives",
    executor: killed,
    told: [killedText],
    lost: { killed: 1 },
  },
  {
    why: "includes an evicted executor without an end time while its driver lives",
    executor: undated,
    told: ["Executor 1 (pod pi-exec-1, node node-1) was lost: evicted"],
    lost: { evicted: 1 },
  },
  {
    why: "excludes a killed executor while its driver is being deleted",
    driver: [pod({ ending: true })],
    executor: killed,
    told: [],
  },
  { why: "excludes a killed executor if its driver is gone", driver: [], executor: killed, told: [] },
  {
    why: "excludes a killed executor if its driver failed without an end time",
    driver: [pod({ phase: "Failed", reason: "Evicted" })],
    executor: killed,
    told: [],
  },
  {
    why: "includes a killed executor that ended before its driver failed",
    driver: [pod({ phase: "Failed", exitCode: 1, finishedAt: "2026-11-02T07:59:59Z" })],
    executor: killed,
    told: [killedText],
    lost: { killed: 1 },
  },
  {
    why: "excludes a killed executor that ended after its driver failed",
    driver: [pod({ phase: "Failed", exitCode: 1, finishedAt: "2026-11-02T07:59:57Z" })],
    executor: killed,
    told: [],
  },
  {
    why: "counts a recorded loss once",
    ledger: living([2], { over: "1", lost: { memory: 1 } }),
    told: [],
    lost: { memory: 1 },
  },
  {
    why: "reports a loss whose Event the step before did not record",
    ledger: living([2], {
      ...{ over: "1", lost: { memory: 1 }, untold: [1] },
      losses: [{ id: 1, uid: "", pod: "pi-exec-1", reason: "memory", node: "node-1", exitCode: 137, at: 0 }],
    }),
    told: [memoryText],
    lost: { memory: 1 },
  },
  {
    why: "excludes executors that end while the run is SUSPENDING",
    state: { phase: "SUSPENDING" },
    told: [],
  },
];

const isLoss = (line: string): boolean => line.includes("ExecutorLost");
const ends = /^delete pods (spark-pi-driver|pi-exec-\d)/;

describe("the final account of an interrupted run", () => {
  for (const row of rows)
    test(row.why, () => {
      const { object = suspended, driver: body = [pod()], executor: one = lost, state = { phase: "RUNNING" } } = row;
      const memory = remembered({ driver, state, executors: row.ledger ?? living([1, 2]) });
      const { plan, before } = decided({ object, memory, pods: [...body, one, runs] });
      const first = before.map(said);
      assert.deepEqual(
        first.map((line) => line.slice(line.indexOf(": ") + 2)),
        row.told,
      );
      assert.ok(first.every(isLoss));
      assert.deepEqual(plan.memory.executors?.lost, row.lost);
      const last = plan.stages.flat().map(said);
      assert.equal(last.filter(isLoss).length, 0);
      assert.ok(last.filter((line) => ends.test(line)).length >= 2, "all of it is ended");
    });

  test("has the lifetimes of executors that were lost, and of those that end with the run", () => {
    const started = "2026-11-02T07:50:10Z";
    const memory = remembered({ driver, executors: living([1, 2]) });
    const both = [executor({ ...lostFields, started }), executor({ id: 2, started })];
    const { plan } = decided({ object: suspended, memory, pods: [pod(), ...both] });
    const created = Date.parse("2026-11-02T07:50:00Z") / 1_000;
    assert.deepEqual(plan.memory.executors?.lifetimes, [
      [1, created, 10, 598, "node-1", "memory"],
      [2, created, 10, 600, "node-1", "driverEnded"],
    ]);
    assert.deepEqual(plan.memory.executors?.ran, [588 + 590, 588]);
  });

  test("leaves no live executors in the ledger", () => {
    const memory = remembered({ driver, executors: living([1, 2]) });
    const { plan } = decided({ object: suspended, memory, pods: [pod(), lost, runs] });
    assert.deepEqual(plan.memory.state, { phase: "SUSPENDING" });
    assert.equal(plan.memory.executors?.live, undefined);
  });
});
