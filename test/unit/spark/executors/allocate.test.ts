/** The number and ids of the executors to create, and the time of the next ones, as rows. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitingText } from "../../../../shared/core/waiting-on.ts";
import { rulesFor } from "../../../../shared/spark/configuration/versions.ts";
import { allocate, type Need, type Pace, paceOf, shrink } from "../../../../shared/spark/executors/allocation.ts";
import {
  type Allotment,
  afterCrashes,
  afterLook,
  allotment,
  membersOf,
  missingOf,
  newAllotment,
  newlyEnded,
} from "../../../../shared/spark/executors/allotment.ts";
import { eight, pod, type Short } from "../application/fixtures.ts";

const executor = (id: number, more: Short & { readonly age?: number } = {}) => {
  const made = pod({ role: "executor", owner: "driver-1", name: `e-${id}`, uid: `u-${id}`, executor: id, ...more });
  const creationTimestamp = new Date(eight - (more.age ?? 10) * 1_000).toISOString();
  return { ...made, metadata: { ...made.metadata, creationTimestamp } };
};

const running = (...ids: readonly number[]) => ids.map((id) => executor(id));
const pending = (age: number, ...ids: readonly number[]) => ids.map((id) => executor(id, { phase: "Pending", age }));
const quit = (id: number) => executor(id, { phase: "Succeeded", exitCode: 0 });
const failed = (id: number, finishedAt = "2026-11-02T07:59:58Z") =>
  executor(id, { phase: "Failed", exitCode: 1, finishedAt });

const fresh = newAllotment(1, "p", undefined);
const settledMs = 16_000;
const without = Number.POSITIVE_INFINITY;
const pace: Pace = { batch: 10, intervalMs: 1_000, maxPending: without, mostIds: without, registrationMs: 300_000 };

type Row = readonly [
  why: string,
  need: Partial<Omit<Need, "members" | "pace">> & {
    readonly pods?: readonly ReturnType<typeof executor>[];
    readonly pace?: Partial<Pace>;
  },
  ids: readonly number[],
  wakeAt?: number,
];

const made = ({ pods = [], pace: asked, ...need }: Row[1]) =>
  allocate({
    expected: 3,
    allotment: fresh,
    unsure: 0,
    now: eight,
    promptUntil: undefined,
    ...need,
    members: membersOf(pods),
    pace: { ...pace, ...asked },
  });

describe("a step creates executors:", () => {
  const seconds = (count: number): number => eight + count * 1_000;
  const at = (from: Partial<Allotment>): Allotment => ({ ...fresh, ...from });
  const rows: readonly Row[] = [
    ["all desired ones, from the first id on", {}, [1001, 1002, 1003]],
    ["the missing ones", { pods: running(1001, 1002), allotment: at({ next: 1003 }) }, [1003]],
    ["none if all live", { pods: running(1001, 1002, 1003), allotment: at({ next: 1004 }) }, []],
    ["none if there are too many", { expected: 1, pods: running(1001, 1002) }, []],
    ["none if none are desired", { expected: 0 }, []],
    ["at most a batch", { expected: 25 }, [...Array(10).keys()].map((id) => 1001 + id), seconds(1)],
    [
      "the rest of a batch",
      { expected: 25, allotment: at({ window: { at: eight, made: 8 } }) },
      [1001, 1002],
      seconds(1),
    ],
    [
      "none if the batch of the interval is complete",
      { allotment: at({ window: { at: eight, made: 10 } }) },
      [],
      seconds(1),
    ],
    [
      "a batch again in the next interval",
      { allotment: at({ window: { at: seconds(-1), made: 10 } }) },
      [1001, 1002, 1003],
    ],
    [
      "none within a longer interval",
      { allotment: at({ window: { at: seconds(-9), made: 10 } }), pace: { intervalMs: 60_000 } },
      [],
      seconds(51),
    ],
    ["replacements of those that ended", { pods: [failed(1001), ...running(1002)] }, [1001, 1002]],
    [
      "replacements of those that are being deleted",
      { pods: [executor(1001, { ending: true }), ...running(1002, 1003)], allotment: at({ next: 1004 }) },
      [1004],
    ],
    [
      "the missing ones without those that are underway",
      { allotment: at({ next: 1003, underway: [{ ids: "1001-1002", at: eight }] }) },
      [1003],
    ],
    ["the missing ones without those that may have finished", { unsure: 2 }, [1001]],
    [
      "the missing ones while young ones are Pending",
      { pods: pending(10, 1001), allotment: at({ next: 1002 }) },
      [1002, 1003],
    ],
    [
      "at most maxPending",
      { pods: pending(10, 1001), allotment: at({ next: 1002 }), pace: { maxPending: 2 } },
      [1002],
      seconds(290),
    ],
    [
      "none while maxPending young ones are Pending",
      { pods: pending(60, 1001), allotment: at({ next: 1002 }), pace: { maxPending: 1 } },
      [],
      seconds(240),
    ],
    [
      "the missing ones, as old Pending ones do not count for maxPending",
      { pods: pending(301, 1001), allotment: at({ next: 1002 }), pace: { maxPending: 2 } },
      [1002, 1003],
    ],
    ["all after a few crashes", { allotment: at({ crashes: { count: 5, at: eight } }) }, [1001, 1002, 1003]],
    ["none before a delay after six crashes", { allotment: at({ crashes: { count: 6, at: eight } }) }, [], seconds(5)],
    [
      "none before a longer delay after twelve crashes",
      { allotment: at({ crashes: { count: 12, at: eight } }) },
      [],
      seconds(20),
    ],
    [
      "none before five minutes at most, after any number of crashes",
      { allotment: at({ crashes: { count: 900, at: eight } }) },
      [],
      seconds(300),
    ],
    [
      "all after the delay of six crashes",
      { allotment: at({ crashes: { count: 6, at: seconds(-5) } }) },
      [1001, 1002, 1003],
    ],
  ];
  for (const [why, need, ids, wakeAt] of rows)
    test(why, () => {
      const result = made(need);
      assert.deepEqual(result.ids, ids);
      assert.equal(result.wakeAt, wakeAt);
      assert.equal(result.allotment.next, (need.allotment ?? fresh).next + ids.length);
    });

  test("later, with the reason in waitsFor, while they crash one after the other", () => {
    const { waitsFor } = made({ allotment: at({ crashes: { count: 6, at: eight } }) });
    assert.match(
      waitsFor === undefined ? "" : waitingText(waitsFor),
      /^its next executors: they are delayed because 6 crashed one after the other/,
    );
  });

  test("under ids that are underway until they are listed, and are never used again", () => {
    const first = made({}).allotment;
    assert.deepEqual(first.underway, [{ ids: "1001-1003", at: eight }]);
    assert.deepEqual(allotment.parse(JSON.parse(JSON.stringify(first))), first);
    const seen = afterLook(first, membersOf(running(1002)), { now: eight + 15_999, settledMs });
    assert.deepEqual([seen.alive, seen.underway], ["1002", [{ ids: "1001,1003", at: eight }]]);
    const settled = afterLook(seen, membersOf(running(1002)), { now: eight + 16_000, settledMs });
    assert.deepEqual(settled.underway, []);
    assert.deepEqual(made({ pods: running(1002), allotment: settled }).ids, [1004, 1005]);
    assert.equal(newAllotment(2, "q", settled).next, 1004);
  });

  test("with an earlier end of underway if there are at most 16", () => {
    const soon = eight + 10_000;
    const few = made({ expected: 16, promptUntil: soon, pace: { batch: 50 } }).allotment;
    assert.deepEqual(few.underway, [{ ids: "1001-1016", at: eight, until: soon }]);
    assert.deepEqual(allotment.parse(JSON.parse(JSON.stringify(few))), few);
    const left = [soon - 1, soon].map((now) => afterLook(few, membersOf(running(1001)), { now, settledMs }).underway);
    assert.deepEqual(left, [[{ ids: "1002-1016", at: eight, until: soon }], []]);
    const many = made({ expected: 17, promptUntil: soon, pace: { batch: 50 } }).allotment;
    assert.deepEqual(many.underway, [{ ids: "1001-1017", at: eight }]);
  });

  test("with ids above every existing one, even if the record lacks it", () => {
    assert.equal(afterLook(fresh, membersOf(running(1040)), { now: eight, settledMs }).next, 1041);
  });
});

describe("a list of executor pods", () => {
  const known: Allotment = { ...fresh, next: 1006, alive: "1001-1005" };

  test("is used without pods whose ids Rekindle did not assign", () => {
    assert.deepEqual(
      membersOf([executor(7), ...running(1001)]).map(({ id }) => id),
      [1001],
    );
  });

  test("shows those as missing that lived and are not listed, and no others", () => {
    assert.deepEqual(
      missingOf(known, membersOf([...running(1001, 1002), failed(1003), ...running(1009)])),
      [1004, 1005],
    );
  });

  test("shows an end once", () => {
    const members = membersOf([...running(1001), failed(1003)]);
    assert.deepEqual(
      newlyEnded(known, members).map(({ id }) => id),
      [1003],
    );
    assert.deepEqual(newlyEnded(afterLook(known, members, { now: eight, settledMs }), members), []);
  });

  const crashes: readonly (readonly [why: string, ended: ReturnType<typeof executor>[], count: number | undefined])[] =
    [
      ["increases the count of crashes for a crash", [failed(1001)], 3],
      ["increases the count of crashes for several crashes", [failed(1001), failed(1002)], 4],
      ["does not count an exit with 0 as a crash", [quit(1001)], 2],
      [
        "resets the count of crashes for an executor that lived for a minute",
        [failed(1001, "2026-11-02T08:01:00Z")],
        undefined,
      ],
      ["does not count a preempted pod as a crash", [executor(1001, { phase: "Failed", reason: "Preempting" })], 2],
    ];
  for (const [why, ended, count] of crashes)
    test(why, () => assert.equal(afterCrashes({ count: 2, at: eight }, membersOf(ended))?.count, count));
});

describe("with fewer desired executors a step", () => {
  const four = [...running(1001, 1002, 1003), ...pending(5, 1004)];
  const some = new Set([1002]);
  const all = new Set([1001, 1002, 1003]);
  type Case = readonly [
    why: string,
    expected: number,
    busy: ReadonlySet<number> | undefined,
    leaving: readonly number[],
    kept: number,
    force?: boolean,
    pods?: ReturnType<typeof executor>[],
  ];
  const rows: readonly Case[] = [
    ["deletes none if all are desired", 4, some, [], 0],
    ["deletes Pending executors first", 3, some, [1004], 0],
    ["deletes idle executors next, the youngest first", 2, some, [1004, 1003], 0],
    ["deletes all idle executors", 1, some, [1004, 1003, 1001], 0],
    ["keeps a busy executor", 0, some, [1004, 1003, 1001], 1],
    ["deletes a busy executor with force", 0, some, [1004, 1003, 1001, 1002], 0, true],
    ["deletes the youngest first with force", 1, all, [1004, 1003, 1002], 0, true],
    ["keeps running executors without an answer of the driver", 1, undefined, [1004], 2],
    ["keeps running executors without an answer of the driver, even with force", 1, undefined, [1004], 2, true],
    [
      "does not count an executor that is being deleted",
      1,
      some,
      [],
      0,
      false,
      [executor(1001, { ending: true }), ...running(1002)],
    ],
  ];
  for (const [why, expected, busy, leaving, kept, force = false, pods = four] of rows)
    test(why, () => {
      const result = shrink({ expected, members: membersOf(pods), busy, force });
      assert.deepEqual([result.leaving.map(({ id }) => id), result.kept], [leaving, kept]);
    });
});

describe("the pace", () => {
  const unset = { executorBatch: undefined, executorIntervalMs: undefined, executorMaxPending: undefined };
  const rows: readonly (readonly [asked: object, confs: Readonly<Record<string, string>>, want: Partial<Pace>])[] = [
    [{}, {}, { batch: 500, intervalMs: 1_000, maxPending: Number.POSITIVE_INFINITY }],
    [{}, { "spark.kubernetes.allocation.batch.size": "20" }, { batch: 20 }],
    [{ executorBatch: 7 }, { "spark.kubernetes.allocation.batch.size": "20" }, { batch: 7 }],
    [{}, { "spark.kubernetes.allocation.batch.delay": "3s" }, { intervalMs: 3_000 }],
    [{}, { "spark.kubernetes.allocation.batch.delay": "250" }, { intervalMs: 250 }],
    [{}, { "spark.kubernetes.allocation.batch.delay": " 2Min " }, { intervalMs: 120_000 }],
    [{}, { "spark.kubernetes.allocation.batch.delay": "1d" }, { intervalMs: 86_400_000 }],
    [{}, { "spark.kubernetes.allocation.batch.delay": "500000us" }, { intervalMs: 500 }],
    [{}, { "spark.kubernetes.allocation.batch.delay": "soon" }, { intervalMs: 1_000 }],
    [{ executorIntervalMs: 9_000 }, { "spark.kubernetes.allocation.batch.delay": "3s" }, { intervalMs: 9_000 }],
    [{}, { "spark.kubernetes.allocation.maxPendingPods": "15" }, { maxPending: 15 }],
    [{}, { "spark.kubernetes.allocation.maxPendingPodsPerRp": "4" }, { maxPending: 4 }],
    [
      {},
      {
        "spark.kubernetes.allocation.maxPendingPods": "15",
        "spark.kubernetes.allocation.maxPendingPodsPerRp": "40",
      },
      { maxPending: 15 },
    ],
    [{ executorMaxPending: 2 }, { "spark.kubernetes.allocation.maxPendingPods": "15" }, { maxPending: 2 }],
    [{}, { "spark.kubernetes.allocation.batch.size": "0" }, { batch: 500 }],
    [{}, { "spark.kubernetes.allocation.batch.size": "5000" }, { batch: 1_000 }],
    [{ executorBatch: 10_000 }, {}, { batch: 1_000 }],
    [{}, { "spark.kubernetes.allocation.maximum": "5" }, { mostIds: 4 }],
    [{}, { "spark.kubernetes.allocation.maximum": "none" }, { mostIds: without }],
  ];
  for (const [asked, confs, want] of rows)
    test(`${JSON.stringify(asked)} and ${JSON.stringify(confs)}: ${JSON.stringify(want)}`, () => {
      const result = paceOf({ ...unset, registrationMs: 300_000, ...asked }, confs, rulesFor("4.1.1"));
      assert.deepEqual({ ...result, ...want }, result);
    });
});
