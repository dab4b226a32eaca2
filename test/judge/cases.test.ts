/** The parts of the judge that need no cluster: readings of requests, names and batches of cases, points, and the generic rows. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { batchesFrom, batchesOf, type Case, caseName, casesOf, readCase } from "./cases.ts";
import { isOfAnswer, isOfProcess } from "./faults.ts";
import { problemsAtRest } from "./oracle.ts";
import { openPoints } from "./points.ts";
import { readRequest } from "./requests.ts";
import type { Rows } from "./subject.ts";
import { paceOf } from "./trial.ts";

describe("requests", () => {
  const rows: readonly [string, string, object][] = [
    ["POST", "/api/v1/namespaces/a/pods", { resource: "pods", namespace: "a", name: "", isWrite: true }],
    ["PATCH", "/apis/g.io/v1/namespaces/a/toys/t/status", { resource: "toys/status", name: "t", isWrite: true }],
    ["GET", "/apis/g.io/v1/toys?watch=true&resourceVersion=5", { resource: "toys", isWatch: true, isAnyList: false }],
    ["GET", "/api/v1/pods?resourceVersion=0", { resource: "pods", isWatch: false, isAnyList: true }],
    ["GET", "/api/v1/pods", { isAnyList: false }],
    ["PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l", { resource: "leases", isWrite: false }],
    ["POST", "/api/v1/namespaces", { resource: "namespaces", namespace: "", isWrite: true }],
  ];
  for (const [method, url, expected] of rows)
    test(`${method} ${url} is read from its method and path`, () => {
      assert.partialDeepStrictEqual(readRequest(method, url), expected);
    });
});

describe("cases", () => {
  const points = new Map([
    [
      "run",
      new Map([
        ["POST pods", 5],
        ["pod Failed", 1],
      ]),
    ],
  ]);

  test("every name of a case is read back as the same case", () => {
    const cases = casesOf(points, 7);
    assert.ok(cases.length > 40);
    for (const one of cases) assert.deepEqual(readCase(caseName("toy", one)), one);
  });

  test("a part of a name is no case", () => assert.equal(readCase("kill-after/POST pods#1"), undefined));

  test("a seed has one order, and another seed another one", () => {
    assert.deepEqual(casesOf(points, 7), casesOf(points, 7));
    assert.notDeepEqual(casesOf(points, 7), casesOf(points, 8));
  });

  test("a report of a kubelet gets no fault of an answer, and a pattern at most three occurrences", () => {
    const cases = casesOf(points, 1);
    assert.ok(cases.every(({ fault }) => fault.pattern !== "pod Failed" || !isOfAnswer(fault)));
    assert.equal(Math.max(...cases.map(({ fault }) => fault.occurrence)), 3);
  });

  test("faults of answers, of watches and of the process share no batch, and no case is left out", () => {
    const cases = casesOf(points, 1);
    const batches = batchesOf(cases, 4);
    assert.equal(new Set(batches.flat()).size, cases.length);
    const laneOf = ({ fault }: Case): string =>
      isOfAnswer(fault) ? "answer" : isOfProcess(fault) ? "process" : "watch";
    const most: Readonly<Record<string, number>> = { answer: 8, watch: 2, process: 1 };
    for (const batch of batches) {
      const lanes = [...new Set(batch.map(laneOf))];
      assert.equal(lanes.length, 1);
      assert.ok(batch.length <= (most[lanes[0] ?? ""] ?? 0));
    }
  });

  test("two pieces of an order try all its cases, each once", () => {
    const cases = casesOf(points, 1);
    const batches = batchesOf(cases, 4);
    for (const from of [0, 5, 8, 31, cases.length])
      assert.deepEqual(batchesFrom(batches, from).flat(), batches.flat().slice(from));
  });
});

describe("points", () => {
  test("a fault strikes once, at its occurrence, in its namespace", () => {
    const points = openPoints();
    const fault = { kind: "500", awayMs: 1_000, pattern: "POST pods", occurrence: 2 };
    points.arm("a", fault);
    points.arm("b", undefined);
    const struck = ["a", "b", "b", "a", "a"].map((namespace) => points.pass(namespace, "POST pods"));
    assert.deepEqual(struck, [undefined, undefined, undefined, fault, undefined]);
  });
});

describe("the pace of a scenario", () => {
  const fast = { seconds: 12, longestGapMs: 2_000 };

  test("a quick machine gives up after the usual times", () => {
    assert.deepEqual(paceOf([fast]), { stuckMs: 20_000, mostMs: 75_000 });
  });

  test("a machine that was slow in one run without fault gets more time", () => {
    const slow = { seconds: 60, longestGapMs: 15_000 };
    assert.deepEqual(paceOf([fast, slow]), { stuckMs: 30_000, mostMs: 180_000 });
  });

  test("the longest time between two points of a namespace is kept", (t) => {
    let now = 0;
    t.mock.method(performance, "now", () => now);
    const points = openPoints();
    points.arm("a", undefined);
    for (const next of [100, 900, 1_000]) {
      now = next;
      points.pass("a", "POST pods");
    }
    assert.equal(points.placeOf("a")?.longestGapMs, 800);
  });
});

describe("the generic rows", () => {
  const rows: Rows = {
    attemptOf: () => "",
    endOf: String,
    isFinal: (object) => object === "done" || object === "other",
    untrue: (object) => (object === "other" ? ["says other"] : []),
    leftovers: [],
  };
  const quiet = { pods: new Map(), duplicates: [] };
  const ends = new Set(["done"]);
  const rowsAt = (end: string, isAtRest = true): readonly string[] =>
    problemsAtRest(rows, quiet, { object: end, end, isAtRest }, ends).map(({ row }) => row);

  test("the end of a run without fault has no problem", () => assert.deepEqual(rowsAt("done"), []));
  test("rest before an end is stuck", () => assert.deepEqual(rowsAt("halfway"), ["stuck"]));
  test("no rest is stuck, whatever the end", () => assert.deepEqual(rowsAt("done", false), ["stuck"]));
  test("another end is lost, and its status is judged, too", () =>
    assert.deepEqual(rowsAt("other"), ["lost", "untrue"]));
  test("two active pods of an attempt are a duplicate", () => {
    const history = { pods: new Map(), duplicates: ["the driver exists twice"] };
    const found = problemsAtRest(rows, history, { object: "done", end: "done", isAtRest: true }, ends);
    assert.deepEqual(found, [{ row: "duplicate", text: "the driver exists twice" }]);
  });
});
