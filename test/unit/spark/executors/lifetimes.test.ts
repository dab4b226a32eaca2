/** The lifetimes of ended executors: packed, bounded, each once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { account, freshLedger } from "../../../../shared/spark/executors/ledger.ts";
import {
  fitting,
  type Lifetime,
  lifetimeOf,
  presentBytes,
  withLifetimes,
} from "../../../../shared/spark/executors/lifetimes.ts";
import { executor } from "./pods.ts";

const created = "2026-11-02T07:50:00Z";
const createdS = Date.parse(created) / 1_000;
const started = "2026-11-02T07:50:05Z";
const finishedAt = "2026-11-02T07:59:30Z";
const now = Date.UTC(2026, 10, 2, 8);

const one = (id: number, reason: Lifetime[5] = "finished", seconds = 60): Lifetime => [
  ...([id, createdS, 5, 5 + seconds, "node-1", reason] as const),
];

describe("the lifetime of an executor", () => {
  test("has the pod's creation, start, end, node and the reason", () => {
    const pod = executor({ id: 3, created, started, node: "node-7" });
    assert.deepEqual(lifetimeOf(3, pod, "memory", Date.parse(finishedAt)), [[3, createdS, 5, 570, "node-7", "memory"]]);
  });

  test("has the start -1 if the executor never started, and counts as no time", () => {
    const lifetimes = lifetimeOf(3, executor({ id: 3, created, unscheduled: "no room" }), "neverStarted", now);
    assert.deepEqual(lifetimes, [[3, createdS, -1, 600, "", "neverStarted"]]);
    assert.deepEqual(withLifetimes({}, lifetimes).ran, [0, 0]);
  });

  test("has the start -1 if a node has taken the pod, and its image could not be pulled", () => {
    const pod = executor({ id: 3, created, started });
    const containerStatuses = [{ name: "c", state: { waiting: { reason: "ImagePullBackOff" } } }];
    const waiting = { ...pod, status: { phase: "Pending", startTime: started, containerStatuses } };
    assert.deepEqual(lifetimeOf(3, waiting, "neverStarted", now)[0]?.slice(2, 4), [-1, 600]);
  });

  test("is kept by the account when the executor is lost, and only once", () => {
    const dead = executor({ id: 2, phase: "Failed", exit: 137, because: "OOMKilled", created, started, finishedAt });
    const first = account(freshLedger(1), { pods: [dead], now, certain: true }).ledger;
    assert.deepEqual(first.lifetimes, [[2, createdS, 5, 570, "node-1", "memory"]]);
    assert.deepEqual(first.ran, [565, 565]);
    assert.deepEqual(account(first, { pods: [dead], now, certain: true }).ledger, first);
  });
});

describe("the lifetimes of a run", () => {
  test("sum up all executors, and the lost ones apart", () => {
    const { ran } = withLifetimes(withLifetimes({}, [one(1), one(2, "memory", 30)]), [one(3, "driverEnded", 10)]);
    assert.deepEqual(ran, [100, 30]);
  });

  test("take an executor once", () => {
    const first = withLifetimes({}, [one(1)]);
    assert.deepEqual(withLifetimes(first, [one(1)]), first);
  });

  test("keep the latest that fit, and the sum of all", () => {
    const many = Array.from({ length: 1_000 }, (_, at) => one(at + 1));
    const { lifetimes = [], ran } = withLifetimes({}, many);
    assert.ok(Buffer.byteLength(JSON.stringify(lifetimes)) <= presentBytes);
    assert.ok(lifetimes.length > 200 && lifetimes.length <= 500, `${lifetimes.length}`);
    assert.deepEqual([lifetimes.at(-1)?.[0], ran], [1_000, [60_000, 0]]);
  });

  test("are at most 500", () => {
    const many = Array.from({ length: 1_000 }, (_, at) => one(at + 1));
    assert.deepEqual([fitting(many, 1_000_000).length, fitting(many, 0).length], [500, 0]);
  });
});
