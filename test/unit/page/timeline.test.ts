/** Slots of executors in the timeline, and the strip of a row. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { attemptsOf, folded, slotsOf, spansOf, waitParts } from "../../../shared/page/timeline.ts";
import { groups, type Lane } from "../../../shared/page/wire.ts";
import { rowOf } from "./rows.ts";

const lane = (id: number, given: Partial<Lane> = {}): Lane => ({
  ...{ pod: `exec-${id}`, role: "executor", id, attempt: 1, requestedAt: 1_000, up: 2_000 },
  ...given,
});
const idsIn = (lanes: readonly Lane[]): readonly (readonly number[])[] =>
  slotsOf(lanes).map((slot) => slot.lanes.map(({ id }) => id));

describe("the attempts of an application", () => {
  const history = [
    { state: "RUNNING", group: "running", attempt: 1, at: 1_000 },
    { state: "PENDING_RERUN", group: "waiting", attempt: 1, at: 2_000 },
    { state: "RUNNING", group: "running", attempt: 2, at: 3_000 },
    { state: "PENDING_RERUN", group: "waiting", attempt: 2, at: 4_000 },
    { state: "RUNNING", group: "running", attempt: 3, at: 5_000 },
  ] as const;

  test("end as the record says, and an earlier one without a word of the record has failed", () => {
    const runs = [{ attempt: 1, outcome: "completed", at: 2_000, error: "" }];
    const ends = attemptsOf({ history, runs, isOver: false, now: 6_000 }).map(({ attempt, end }) => [attempt, end]);
    assert.deepEqual(ends, [
      [1, "completed"],
      [2, "failed"],
      [3, "running"],
    ]);
  });
});

test("an attempt whose driver has not run yet is submitted, and not running", () => {
  const history = [{ state: "SUBMITTED", group: "submitted", attempt: 1, at: 1_000 }] as const;
  const story = { runs: [], isOver: false, now: 6_000 };
  assert.deepEqual(
    attemptsOf({ ...story, history }).map(({ end }) => end),
    ["submitted"],
  );
  const runs = [...history, { state: "RUNNING", group: "running", attempt: 1, at: 2_000 }] as const;
  assert.deepEqual(
    attemptsOf({ ...story, history: runs }).map(({ end }) => end),
    ["running"],
  );
});

describe("the waits in the lane of states", () => {
  const history = [
    { state: "RUNNING", group: "running", attempt: 1, at: 1_000 },
    { state: "PENDING_RERUN", group: "waiting", attempt: 1, at: 5_000 },
    { state: "RUNNING", group: "running", attempt: 2, at: 9_000 },
  ] as const;
  const wait = (reason: string, from: number, to?: number, isUsual = false) => ({
    ...{ for: reason, from, isUsual },
    ...(to === undefined ? {} : { to }),
  });
  const partsOf = (...waits: readonly ReturnType<typeof wait>[]) =>
    waitParts({ history, waits, isOver: false, now: 20_000 }).map(({ for: reason, from, to, isWhole }) => [
      ...[reason, from, to],
      ...(isWhole ? ["whole"] : []),
    ]);

  test("stand for a state without work, and beside the work of a running one", () => {
    assert.deepEqual(partsOf(wait("quota", 2_000, 3_000), wait("its next try", 5_000, 9_000)), [
      ["quota", 2_000, 3_000],
      ["its next try", 5_000, 9_000, "whole"],
    ]);
  });

  test("are cut where the state changes; the present one goes on until now", () => {
    assert.deepEqual(partsOf(wait("the platform", 4_000, 10_000), wait("quota", 12_000)), [
      ["the platform", 4_000, 5_000],
      ["the platform", 5_000, 9_000, "whole"],
      ["the platform", 9_000, 10_000],
      ["quota", 12_000, 20_000],
    ]);
  });

  test("leave out the usual course", () => {
    assert.deepEqual(partsOf(wait("the driver to finish", 1_000, 5_000, true)), []);
  });
});

describe("the timeline's slots of executors", () => {
  test("an executor that is requested after a loss takes the slot of the lost executor", () => {
    const lost = lane(1, { end: 5_000, lost: true, reason: "memory" });
    const lanes = [lost, lane(2), lane(3, { requestedAt: 6_000, up: 7_000 })];
    assert.deepEqual(idsIn(lanes), [[1, 3], [2]]);
    assert.equal(slotsOf(lanes)[0]?.lanes[1]?.follows, 1);
    assert.equal(slotsOf(lanes)[0]?.lanes[0]?.until, 7_000);
  });

  test("the first replacement takes the slot of the earlier of two losses", () => {
    const lanes = [
      lane(1, { end: 6_000, lost: true }),
      lane(2, { end: 5_000, lost: true }),
      lane(3, { requestedAt: 7_000 }),
      lane(4, { requestedAt: 8_000 }),
    ];
    assert.deepEqual(idsIn(lanes), [
      [1, 4],
      [2, 3],
    ]);
  });

  test("an executor that was requested before a loss takes a slot of its own", () => {
    assert.deepEqual(idsIn([lane(1, { end: 9_000, lost: true }), lane(2, { requestedAt: 3_000 })]), [[1], [2]]);
  });

  test("an executor that ended without being lost is not replaced", () => {
    assert.deepEqual(idsIn([lane(1, { end: 5_000 }), lane(2, { requestedAt: 6_000 })]), [[1], [2]]);
  });

  test("the first slot of an attempt continues the first slot of the attempt before", () => {
    assert.deepEqual(idsIn([lane(1), lane(2), lane(1, { pod: "again-1", attempt: 2, requestedAt: 9_000 })]), [
      [1, 1],
      [2],
    ]);
  });

  test("the shown slots include those with a loss if there are more than 60", () => {
    const lanes = Array.from({ length: 100 }, (_, at) => lane(at + 1, at === 99 ? { end: 5_000, lost: true } : {}));
    const { shown, quiet } = folded(slotsOf(lanes));
    assert.equal(shown.length, 60);
    assert.equal(quiet, 40);
    assert.ok(shown.some((slot) => slot.lanes[0]?.id === 100));
  });
});

describe("the strip of a row in the list", () => {
  const at = (group: (typeof groups)[number]): number => groups.indexOf(group);

  test("shows a failed attempt as failed, the time after it as waiting, and the running attempt as running", () => {
    const row = rowOf({
      strip: [
        [100, at("running")],
        [200, at("waiting")],
        [300, at("running")],
      ],
    });
    assert.deepEqual(
      spansOf(row, 400).map(({ from, to, group }) => [from, to, group]),
      [
        [100, 200, "failed"],
        [200, 300, "waiting"],
        [300, 400, "running"],
      ],
    );
  });

  test("ends a completed run with the application", () => {
    const row = rowOf({
      group: "completed",
      since: 210,
      strip: [
        [100, at("running")],
        [200, at("running")],
        [210, at("completed")],
      ],
    });
    assert.deepEqual(
      spansOf(row, 400).map(({ to, group }) => [to, group]),
      [
        [200, "completed"],
        [210, "completed"],
      ],
    );
  });

  test("is one span without a record", () => {
    assert.deepEqual(spansOf(rowOf({ createdAt: 50 }), 400), [{ from: 50, to: 400, group: "running" }]);
  });
});
