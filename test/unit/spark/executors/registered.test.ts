/** Parsing of the driver's answer about its executors. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeResult } from "../../../../shared/core/plan.ts";
import { pods } from "../../../../shared/kube/resources.ts";
import { registeredIn, registeredQuery } from "../../../../shared/spark/executors/driver-api.ts";

const said = (value: unknown): ProbeResult => ({ heard: true, value });
const one = (id: string, isActive: boolean, activeTasks = 0, completedTasks = 0, failedTasks = 0): object => ({
  ...{ id, isActive, activeTasks, completedTasks, failedTasks },
  hostPort: "10.244.0.9:7079",
});

describe("the driver's answer", () => {
  test("names the active, inactive and busy executors, the holders of data, and the counts of tasks", () => {
    const answer = [
      one("driver", true),
      one("1", true, 2, 10, 1),
      { ...one("2", true), totalShuffleWrite: 0, rddBlocks: 3 },
      { ...one("3", false, 1, 5), totalShuffleWrite: 9, peakMemoryMetrics: "none" },
      { ...one("4", true), totalShuffleWrite: 812, rddBlocks: 0, peakMemoryMetrics: { JVMHeapMemory: 7_340_032 } },
      one("x", true),
    ];
    assert.deepEqual(registeredIn(said(answer)), {
      ...{ active: new Set([1, 2, 4]), inactive: new Set([3]), busy: new Set([1]), holders: new Set([2, 4]) },
      ...{ runningTasks: 2, endedTasks: 16 },
      words: { executors: 3, running: 2, failed: 1, shuffle: 821, heap: 7_340_032 },
    });
  });

  const nothing: readonly (readonly [what: string, hearing: ProbeResult])[] = [
    ["that does not come", { heard: false, why: "unreachable", message: "connection refused" }],
    ["of another kind", said({ executors: [] })],
    ["of another server", said([{ id: 1, isActive: "yes" }])],
    ["with an invalid entry at its end", said([one("1", true), 7])],
    ["with counts whose sum no record can hold", said([one("1", true, 0, 1e308), one("2", true, 0, 1e308)])],
  ];
  for (const [what, hearing] of nothing)
    test(`${what} names no registrations`, () => assert.equal(registeredIn(hearing), undefined));

  test("has no heap whose size no record can hold", () => {
    const answer = [{ ...one("1", true), peakMemoryMetrics: { JVMHeapMemory: 1e308 } }];
    assert.equal(registeredIn(said(answer))?.words.heap, 0);
  });

  test("is the answer of a proxy request to the driver's pod, below its application", () => {
    const pod = { resource: pods, namespace: "ns", name: "pi-driver" };
    const path = ["api", "v1", "applications", "spark-1", "allexecutors"];
    assert.deepEqual(registeredQuery(pod, 4_040, "spark-1", 100), { do: "proxyGet", pod, port: 4_040, path });
    assert.equal(registeredQuery(pod, 4_040, "spark-1", 4_000).mostBytes, 8_192_000);
  });
});
