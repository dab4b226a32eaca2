/** The cost of an application from its record, as `rekindle list -o wide` shows it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { plannedEnds, type RecordView } from "../../../shared/inspection/record.ts";
import { quotaOf, quotaText, usageColumns, usageOf } from "../../../shared/inspection/usage.ts";
import { losses } from "../../../shared/spark/executors/losses.ts";

const hour = 3_600_000;
/** Driver: 1 core, 1 GiB; each executor: 2 cores, 4 GiB. */
const needs = [1_000, 1_024, 2_000, 4_096];

const record = (memory: object, more: Partial<RecordView> = {}): RecordView => ({
  ...{ schema: 1, uid: "u1", saves: 1, memory },
  ...more,
});

const memory = (state: object, ran: readonly number[], attempt = 1) => ({
  driver: { attempt, submittedAt: 0, upAt: 0, needs },
  executors: { attempt, ran, lifetimes: [] },
  state,
});

const failed = (account: object, outcome = "failed") => ({
  runs: [{ attempt: 1, outcome, startedAt: 0, endedAt: hour, account }],
});

const columnsOf = (one: RecordView | undefined) => Object.values(usageColumns(usageOf(one, 2 * hour)));

describe("the quota that Kueue granted to an application", () => {
  // Two executors granted and one waited for since the first hour; before it, three granted executor-hours and half a one waited for.
  const quota = [hour, 2, 1, -1, 3 * hour, hour / 2];
  const running = { ...memory({ phase: "RUNNING" }, [3_600, 0]), allotment: { attempt: 1, quota } };

  test("grows until now while the run goes on, and counts executors as used when they have ended", () => {
    assert.equal(
      quotaText(quotaOf(record(running), 2 * hour)),
      "5.000 executor-h granted by Kueue, at least 1.000 used, 1.500 waited for",
    );
  });

  test("ends with the run, and adds up the runs of the record", () => {
    const over = { ...running, state: { phase: "COMPLETED", endedAt: hour } };
    const account = { needs, ran: [1_800, 0], quota: [0, 1, 0, -1, 0, 0] };
    const whole = record(
      { ...over, driver: { ...over.driver, attempt: 2 }, allotment: { attempt: 2, quota } },
      failed(account),
    );
    const shown = quotaOf(record({ ...over }), 9 * hour);
    assert.deepEqual(shown, { granted: 3, used: 1, waited: 0.5, isWhole: true });
    assert.partialDeepStrictEqual(quotaOf(whole, 9 * hour), { granted: 4, used: 0.5, isWhole: true });
  });

  test("is among the columns of its cost, and of an application without growths there is none", () => {
    const of = (one: object) => usageColumns(usageOf(record(one), 2 * hour));
    assert.partialDeepStrictEqual(of(running), {
      "GRANTED EXEC-H": "5.000",
      "USED EXEC-H": "1.000+",
      "WAITED EXEC-H": "1.500",
    });
    const { allotment: _, ...fixed } = running;
    assert.deepEqual([quotaText(quotaOf(record(fixed), hour)), Object.keys(of(fixed)).length], ["", 4]);
  });
});

describe("the cost of an application", () => {
  test("has the driver's hours and those of ended executors; lost executors are lost", () => {
    const completed = record(memory({ phase: "COMPLETED", endedAt: hour }, [7_200, 1_800]));
    assert.deepEqual(columnsOf(completed), ["5.000", "9.000", "1.000", "2.000"]);
  });

  test("of a running application counts its driver until now, and says that more will come", () => {
    assert.deepEqual(columnsOf(record(memory({ phase: "RUNNING" }, [3_600, 0]))), [
      ...["4.000+", "6.000+", "0.000", "0.000"],
    ]);
  });

  test("of a failed application is lost as a whole", () => {
    const one = record(memory({ phase: "FAILED", endedAt: hour }, [3_600, 0]));
    assert.deepEqual(columnsOf(one), ["3.000", "5.000", "3.000", "5.000"]);
  });

  test("counts an attempt that failed as lost, and of one that completed its lost executors", () => {
    const newest = memory({ phase: "COMPLETED", endedAt: hour }, [0, 0], 2);
    const account = { needs, ran: [3_600, 1_800] };
    assert.deepEqual(columnsOf(record(newest, failed(account))), ["4.000", "6.000", "3.000", "5.000"]);
    assert.deepEqual(columnsOf(record(newest, failed(account, "completed"))), ["4.000", "6.000", "1.000", "2.000"]);
  });

  test("of a driver that waits for a node, or whose image cannot be pulled, is nothing", () => {
    const waiting = { driver: { attempt: 1, submittedAt: 0, needs }, state: { phase: "SUBMITTED" } };
    assert.deepEqual(columnsOf(record(waiting)), ["0.000+", "0.000+", "0.000", "0.000"]);
    const given = { ...waiting, state: { phase: "FAILED", endedAt: hour } };
    assert.deepEqual(columnsOf(record(given)), ["0.000", "0.000", "0.000", "0.000"]);
  });

  test("begins with the driver's start; without it with the state RUNNING; without that, of a run that was one, with its submission", () => {
    const driver = { attempt: 1, submittedAt: 0, needs };
    const ended = { phase: "FAILED", endedAt: 2 * hour };
    const seen = { driver, state: ended, history: [{ phase: "RUNNING", attempt: 1, at: hour }] };
    assert.deepEqual(columnsOf(record(seen)).slice(0, 2), ["1.000", "1.000"]);
    assert.deepEqual(columnsOf(record({ ...seen, driver: { ...driver, upAt: hour / 2 } })).slice(0, 2), [
      ...["1.500", "1.500"],
    ]);
    const quick = { driver, state: { phase: "COMPLETED", endedAt: 2 * hour } };
    assert.deepEqual(columnsOf(record(quick)).slice(0, 2), ["2.000", "2.000"]);
    const past = record({ ...seen, driver: { ...driver, attempt: 2, upAt: 2 * hour } }, failed({ needs }));
    assert.deepEqual(columnsOf(past).slice(0, 2), ["0.000", "0.000"]);
  });

  test("with a run of an older version, which kept no requests, is at least the rest", () => {
    const newest = memory({ phase: "COMPLETED", endedAt: hour }, [0, 0], 2);
    assert.deepEqual(columnsOf(record(newest, failed({}))), ["1.000+", "1.000+", "0.000", "0.000"]);
  });

  test("names the same ends as no loss as the account of executors does", () => {
    const unmissed = Object.entries(losses).filter(([, { hasEvent }]) => !hasEvent);
    assert.deepEqual(plannedEnds.toSorted(), unmissed.map(([reason]) => reason).sort());
  });

  test("is unknown without a record, and for a record without requests", () => {
    assert.deepEqual([columnsOf(undefined), columnsOf(record({ phase: "Running" }))], [[], []]);
  });
});

/** Prices by node: `spot-1` is cheaper; of no other node anything is known. */
const rates = {
  ...{ currency: "EUR", usual: { core: 1, gib: 0.5 }, isByNode: true, refresh: async () => {} },
  on: (node: string | undefined) => (node === "spot-1" ? { core: 0.1, gib: 0.05 } : undefined),
};
const flat = { ...rates, isByNode: false, on: () => rates.usual };

const moneyOf = (one: RecordView, by: typeof rates | typeof flat) => {
  const columns = usageColumns(usageOf(one, 2 * hour, by));
  return [columns["COST EUR"], columns["LOST EUR"]];
};

/** An executor ran an hour on `spot-1` and was lost; another ran an hour elsewhere; the record keeps both as lifetimes. */
const kept = {
  driver: { attempt: 1, submittedAt: 0, needs },
  executors: {
    ...{ attempt: 1, ran: [7_200, 3_600] },
    lifetimes: [
      [1, 0, 0, 3_600, "spot-1", "node"],
      [2, 0, 0, 3_600, "other", "finished"],
    ],
  },
  state: { phase: "COMPLETED", endedAt: hour },
};

describe("the money for an application", () => {
  test("is its hours times the usual price where prices depend on no node", () => {
    // Driver 1 × 1 + 1 × 0.5; each executor 2 × 1 + 4 × 0.5.
    assert.deepEqual(moneyOf(record(kept), flat), ["9.500", "4.000"]);
  });

  test("has the price of each executor's node, and says by a tilde that other nodes are not known", () => {
    assert.deepEqual(moneyOf(record(kept), rates), ["~5.900", "~0.400"]);
  });

  test("has the price of the driver's node, of the present run and of a past one", () => {
    const onSpot = { ...kept, driver: { ...kept.driver, node: "spot-1" } };
    const summed = { ...onSpot, executors: { attempt: 1 } };
    assert.deepEqual(moneyOf(record(summed), rates), ["0.150", "0.000"]);
    const next = { ...summed, driver: { ...onSpot.driver, attempt: 2 }, executors: { attempt: 2 } };
    assert.deepEqual(moneyOf(record(next, failed({ needs, node: "spot-1", upAt: 0 })), rates), ["0.300", "0.150"]);
    assert.deepEqual(moneyOf(record(next, failed({ needs, upAt: 0 })), rates), ["~1.650", "~1.500"]);
  });

  test("has the usual price for executors that the record keeps only as a sum", () => {
    const summed = { ...kept, executors: { ...kept.executors, lifetimes: [] } };
    assert.deepEqual(moneyOf(record(summed), flat), ["9.500", "4.000"]);
    assert.deepEqual(moneyOf(record(summed), rates), ["~9.500", "~4.000"]);
  });

  test("of a failed application is lost as a whole; of a running one more will come", () => {
    assert.deepEqual(moneyOf(record({ ...kept, state: { phase: "FAILED", endedAt: hour } }), flat), ["9.500", "9.500"]);
    assert.deepEqual(moneyOf(record({ ...kept, state: { phase: "RUNNING" } }), flat), ["11.000+", "4.000"]);
  });

  test("is not named without prices", () => {
    assert.deepEqual(
      Object.keys(usageColumns(usageOf(record(kept), hour))).filter((head) => /COST|EUR/.test(head)),
      [],
    );
  });
});
