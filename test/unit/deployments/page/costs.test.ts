/** Hours and money by namespace and day: from records, and from the pods that run. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCostBook } from "../../../../shared/deployments/page/costs.ts";
import type { Rates } from "../../../../shared/inspection/rates.ts";
import type { RecordView } from "../../../../shared/inspection/record.ts";
import type { Lane } from "../../../../shared/page/wire.ts";

const hour = 3_600_000;
const midnight = Date.parse("2026-11-03T00:00:00Z");

/** Driver: 1 core, 1 GiB; each executor: 2 cores, 4 GiB. */
const needs = [1_000, 1_024, 2_000, 4_096];

type Run = {
  readonly from: number;
  readonly state: { readonly phase: string; readonly endedAt?: number };
  readonly ran?: readonly [number, number];
  readonly lifetimes?: readonly unknown[];
};

const record = ({ from, state, ran = [0, 0], lifetimes = [] }: Run, uid = "u1"): RecordView => ({
  ...{ schema: 1, uid, saves: 1 },
  memory: {
    driver: { attempt: 1, submittedAt: from, needs },
    executors: { attempt: 1, ran, lifetimes },
    state,
  },
});

const completed = (from: number, to: number): Run => ({ from, state: { phase: "COMPLETED", endedAt: to } });

const rates: Rates = {
  ...{ currency: "EUR", usual: { core: 1, gib: 0 }, isByNode: true, refresh: async () => {} },
  on: (node) => (node === "spot-1" ? { core: 0.1, gib: 0 } : undefined),
};

const opened = (at: number, by: Rates | undefined = undefined) => {
  let now = at;
  const book = openCostBook(by, () => now);
  return {
    book,
    later: (ms: number) => {
      now += ms;
    },
    /** Core-hours, and those that were lost, of each namespace: today and on the day before. */
    read: (namespaces: readonly string[] = [], lanes: Readonly<Record<string, readonly Lane[]>> = {}) =>
      book
        .read(namespaces, new Map(Object.entries(lanes)), now)
        .rows.map(({ namespace, days }) => [namespace, ...days.slice(0, 2).map((day) => [day.cores, day.lostCores])]),
  };
};

const lane = (given: Partial<Lane>): Lane => ({
  ...{ pod: "p", role: "executor", id: 1, attempt: 1, up: midnight, cores: 2, gib: 4 },
  ...given,
});

describe("hours by namespace and day", () => {
  test("are split at midnight, UTC", () => {
    const { book, read } = opened(midnight + 5 * hour);
    book.recorded("a", "team-a", record(completed(midnight - hour, midnight + 2 * hour)));
    assert.deepEqual(read(), [["team-a", [2, 0], [1, 0]]]);
  });

  test("of the driver of a run that goes on count until now, and until the deletion of its application", () => {
    const { book, read, later } = opened(midnight + hour);
    book.recorded("a", "team-a", record({ from: midnight, state: { phase: "RUNNING" } }));
    later(hour);
    assert.deepEqual(read(), [["team-a", [2, 0], [0, 0]]]);
    book.gone("a");
    later(hour);
    assert.deepEqual(read(), [["team-a", [2, 0], [0, 0]]]);
  });

  test("stay when the record of a deleted application is removed, or another application takes its name", () => {
    const { book, read, later } = opened(midnight + 2 * hour);
    book.recorded("a", "team-a", record({ from: midnight, state: { phase: "RUNNING" } }));
    book.gone("a");
    later(hour);
    book.recorded("a", "team-a", undefined);
    assert.deepEqual(read(), [["team-a", [2, 0], [0, 0]]]);
    book.recorded("b", "team-a", record(completed(midnight, midnight + hour)));
    book.recorded("b", "team-a", record(completed(midnight + hour, midnight + 2 * hour), "u2"));
    assert.deepEqual(read(), [["team-a", [4, 0], [0, 0]]]);
  });

  test("count a record once, however often it is saved", () => {
    const { book, read } = opened(midnight + 2 * hour);
    for (let save = 0; save < 3; save += 1) book.recorded("a", "team-a", record(completed(midnight, midnight + hour)));
    assert.deepEqual(read(), [["team-a", [1, 0], [0, 0]]]);
  });

  test("have lost executors, those of a sum on the day of the run's start, and all of a failed run", () => {
    const created = (midnight - hour) / 1_000;
    const run = {
      ...completed(midnight - hour, midnight),
      ran: [10_800, 7_200] as const,
      lifetimes: [[1, created, 0, 3_600, "n1", "node"]],
    };
    const { book, read } = opened(midnight + hour);
    book.recorded("a", "team-a", record(run));
    assert.deepEqual(read(), [["team-a", [0, 0], [7, 4]]]);
    book.recorded("a", "team-a", record({ ...run, state: { phase: "FAILED", endedAt: midnight } }));
    assert.deepEqual(read(), [["team-a", [0, 0], [7, 7]]]);
  });

  test("have running executors by their pods, and all pods of an application without a record, each once", () => {
    const { book, read } = opened(midnight + 2 * hour);
    book.recorded("SparkApplication/team-a/a", "team-a", record(completed(midnight, midnight + hour)));
    const lanes = [lane({}), lane({ end: midnight + hour }), lane({ role: "driver" })];
    assert.deepEqual(read([], { "SparkApplication/team-a/a": lanes }), [["team-a", [5, 0], [0, 0]]]);
    assert.deepEqual(read([], { "Job/team-b/j": [lane({ end: midnight + hour, role: "pod" })] }).at(-1), [
      "team-a",
      ...[
        [1, 0],
        [0, 0],
      ],
    ]);
  });

  test("are of the caller's namespaces alone", () => {
    const { book, read } = opened(midnight + 2 * hour);
    for (const name of ["team-a", "team-b"]) book.recorded(name, name, record(completed(midnight, midnight + hour)));
    book.recorded("team-b", "team-b", undefined);
    const lanes = { "Job/team-b/j": [lane({ role: "pod" })] };
    assert.deepEqual(read(["team-a"], lanes), [["team-a", [1, 0], [0, 0]]]);
  });

  test("name at most a hundred namespaces, the largest, and say how many more there are", () => {
    const { book } = opened(midnight + 2 * hour);
    for (let nth = 1; nth <= 103; nth += 1)
      book.recorded(`${nth}`, `team-${nth}`, record(completed(midnight, midnight + nth * 60_000)));
    const { rows, more } = book.read([], new Map(), midnight + 2 * hour);
    assert.deepEqual([rows.length, more, rows[0]?.namespace, rows[99]?.namespace], [100, 3, "team-103", "team-4"]);
  });
});

describe("money by namespace and day", () => {
  const created = midnight / 1_000;
  const run = {
    ...completed(midnight, midnight + hour),
    ran: [3_600, 3_600] as const,
    lifetimes: [[1, created, 0, 3_600, "spot-1", "node"]],
  };

  test("has the price of each node, and tells for how many core-hours the usual price is assumed", () => {
    const { book } = opened(midnight + hour, rates);
    book.recorded("a", "team-a", record(run));
    const { currency, rows, days } = book.read([], new Map(), midnight + hour);
    assert.deepEqual([currency, days[0], days.length], ["EUR", "2026-11-03", 7]);
    assert.deepEqual(rows[0]?.days[0], { cores: 3, gib: 5, cost: 1.2, lostCores: 2, lostCost: 0.2, assumed: 1 });
  });

  test("is not named without prices", () => {
    const { book } = opened(midnight + hour);
    book.recorded("a", "team-a", record(run));
    const { currency, rows } = book.read([], new Map(), midnight + hour);
    assert.deepEqual([currency, rows[0]?.days[0]?.cost, rows[0]?.days[0]?.assumed], [undefined, 0, 0]);
  });
});
