/** The receipt of an application, from its pods. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hoursText, receiptOf } from "../../../shared/page/receipt.ts";
import type { Lane } from "../../../shared/page/wire.ts";

const hour = 3_600_000;

const lane = (id: number, given: Partial<Lane> = {}): Lane => ({
  ...{ pod: `exec-${id}`, role: "executor", id, attempt: 1, up: 0, end: hour, cores: 2, gib: 4 },
  ...given,
});

const sharesOf = (lanes: readonly Lane[], group: "running" | "failed" = "running") =>
  receiptOf({ lanes, group, now: 2 * hour }).shares.map(({ of, coreHours, gibHours }) => [of, coreHours, gibHours]);

describe("the receipt", () => {
  test("a pod costs its requests times the time that it ran; one that runs is counted until now", () => {
    assert.deepEqual(sharesOf([lane(1), { ...lane(2), end: 2 * hour }]), [["good", 6, 12]]);
    const { end: _, ...running } = lane(3);
    assert.deepEqual(sharesOf([running]), [["good", 4, 8]]);
  });

  test("attempts before the newest, and lost executors of the newest, are counted apart", () => {
    const lanes = [lane(1), lane(1, { attempt: 2 }), lane(2, { attempt: 2, lost: true })];
    assert.deepEqual(sharesOf(lanes), [
      ["good", 2, 4],
      ["failed", 2, 4],
      ["lost", 2, 4],
    ]);
  });

  test("of an application that failed no attempt was good work", () => {
    assert.deepEqual(sharesOf([lane(1), lane(2, { lost: true })], "failed"), [["failed", 4, 8]]);
  });

  test("a pod whose start or requests are not known is told, and costs nothing", () => {
    const { up: _, ...unseen } = lane(1, { lost: true });
    const { cores: __, ...unknown } = lane(2);
    const { shares, unknown: count } = receiptOf({ lanes: [unseen, unknown, lane(3)], group: "running", now: hour });
    assert.deepEqual([shares.length, count], [1, 2]);
  });

  test("hours have three digits that count", () => {
    assert.deepEqual([0.0123, 1.234, 12.34, 123.4].map(hoursText), ["0.012", "1.23", "12.3", "123"]);
  });
});
