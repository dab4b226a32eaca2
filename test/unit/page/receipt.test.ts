/** The receipt of an application, from its pods. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hoursText, quotaReceiptOf, quotaText, receiptOf } from "../../../shared/page/receipt.ts";
import type { Lane } from "../../../shared/page/wire.ts";

const hour = 3_600_000;

const lane = (id: number, given: Partial<Lane> = {}): Lane => ({
  ...{ pod: `exec-${id}`, role: "executor", id, attempt: 1, up: 0, end: hour, cores: 2, gib: 4 },
  ...given,
});

const sharesOf = (lanes: readonly Lane[], group: "running" | "failed" = "running", completed: readonly number[] = []) =>
  receiptOf({
    lanes,
    group,
    now: 2 * hour,
    runs: completed.map((attempt) => ({ attempt, outcome: "completed", at: 0, error: "" })),
  }).shares.map(({ of, coreHours, gibHours }) => [of, coreHours, gibHours]);

describe("the receipt of an application", () => {
  test("has each pod's requests times its running time, until now for a running pod", () => {
    assert.deepEqual(sharesOf([lane(1), { ...lane(2), end: 2 * hour }]), [["good", 6, 12]]);
    const { end: _, ...running } = lane(3);
    assert.deepEqual(sharesOf([running]), [["good", 4, 8]]);
  });

  test("has separate shares for earlier attempts and for lost executors of the newest attempt", () => {
    const lanes = [lane(1), lane(1, { attempt: 2 }), lane(2, { attempt: 2, lost: true })];
    assert.deepEqual(sharesOf(lanes), [
      ["good", 2, 4],
      ["failed", 2, 4],
      ["lost", 2, 4],
    ]);
  });

  test("counts earlier attempts that completed as good, as with restartPolicy: Always", () => {
    const lanes = [lane(1), lane(1, { attempt: 2 }), lane(1, { attempt: 3, lost: true })];
    assert.deepEqual(sharesOf(lanes, "running", [1]), [
      ["good", 2, 4],
      ["failed", 2, 4],
      ["lost", 2, 4],
    ]);
    assert.deepEqual(sharesOf(lanes, "failed", [1, 2]), [
      ["good", 4, 8],
      ["failed", 2, 4],
    ]);
  });

  test("has no good share if the application failed", () => {
    assert.deepEqual(sharesOf([lane(1), lane(2, { lost: true })], "failed"), [["failed", 4, 8]]);
  });

  test("counts a pod without a known start or requests as unknown, without cost", () => {
    const { up: _, ...unseen } = lane(1, { lost: true });
    const { cores: __, ...unknown } = lane(2);
    const { shares, unknown: count } = receiptOf({
      lanes: [unseen, unknown, lane(3)],
      ...{ group: "running", now: hour, runs: [] },
    });
    assert.deepEqual([shares.length, count], [1, 2]);
  });

  test("counts a pod that was seen, and never started, as nothing: it is not unknown", () => {
    const { up: _, ...waiting } = lane(1, { requestedAt: 0 });
    const receipt = receiptOf({ lanes: [waiting], group: "failed", now: hour, runs: [] });
    assert.deepEqual([receipt.shares, receipt.coreHours, receipt.unknown], [[], 0, 0]);
  });

  test("has money where prices are set: each pod at the price of its node, and at the usual one on others", () => {
    const prices = { currency: "EUR", usual: [1, 0.5], isByNode: true, nodes: { spot: [0.1, 0.05] } } as const;
    const lanes = [lane(1, { node: "spot", lost: true }), lane(2, { node: "gone" }), lane(3)];
    const known = { lanes, group: "running", now: hour, runs: [] } as const;
    const { shares, cost, assumed } = receiptOf({ ...known, prices });
    assert.deepEqual(
      shares.map((share) => [share.of, Number(share.cost.toFixed(9))]),
      [
        ["good", 8],
        ["lost", 0.4],
      ],
    );
    assert.deepEqual([Number(cost.toFixed(9)), assumed], [8.4, 2]);
    assert.equal(receiptOf({ ...known, prices: { ...prices, isByNode: false, nodes: {} } }).assumed, 0);
    assert.deepEqual([receiptOf(known).cost, receiptOf(known).assumed], [0, 0]);
  });

  test("has hours with three significant digits", () => {
    assert.deepEqual([0.0123, 1.234, 12.34, 123.4].map(hoursText), ["0.012", "1.23", "12.3", "123"]);
  });
});

test("the receipt of quota has executors of runs whose quota is known, and none where it is not", () => {
  const quota = [{ attempt: 1, granted: 4, waited: 0.5 }];
  const lanes = [lane(1), lane(2, { attempt: 2 }), lane(0, { role: "driver" })];
  const known = quotaReceiptOf({ lanes, now: 2 * hour, quota });
  assert.deepEqual(known, { granted: 4, used: 1, waited: 0.5, unknown: 0 });
  assert.equal(quotaReceiptOf({ lanes, now: 2 * hour }), undefined);
  assert.ok(known !== undefined);
  assert.equal(quotaText(known), "4.00 executor-h granted by Kueue, 1.00 used, 0.500 waited for");
  const { up: _, ...unseen } = lane(3);
  const more = quotaReceiptOf({ lanes: [...lanes, unseen], now: 2 * hour, quota });
  assert.match(more === undefined ? "" : quotaText(more), /at least 1\.00 used/);
});
