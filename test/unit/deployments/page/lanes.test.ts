/** Lanes of the page with the record's losses. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withLosses } from "../../../../shared/deployments/page/lanes.ts";
import type { Lane } from "../../../../shared/page/wire.ts";

const lane = (id: number, attempt = 1): Lane => ({
  ...{ pod: `etl-${attempt}-exec-${id}`, role: "executor", id, attempt, asked: 1_000, up: 2_000 },
});

const loss = (id: number, pod: string) => ({
  id,
  pod,
  reason: "deleted",
  node: "",
  why: "",
  at: 5_000,
  exit: undefined,
});

describe("lanes with losses", () => {
  test("a loss whose pod is not in the record marks the lane of its executor in this attempt, and adds none", () => {
    const lanes = withLosses([lane(2), lane(2, 2), lane(3, 2)], [loss(2, ""), loss(3, "")], 2);
    assert.deepEqual(
      lanes.map(({ pod, lost = false, end }) => [pod, lost, end]),
      [
        ["etl-1-exec-2", false, undefined],
        ["etl-2-exec-2", true, 5_000],
        ["etl-2-exec-3", true, 5_000],
      ],
    );
  });

  test("a loss marks the lane of its pod; the loss of a pod that nobody saw becomes a lane with only its end", () => {
    const lanes = withLosses([lane(2), lane(3)], [loss(3, "etl-1-exec-3"), loss(4, "etl-1-exec-4")], 1);
    assert.deepEqual(
      lanes.map(({ id, lost = false, up }) => [id, lost, up]),
      [
        [2, false, 2_000],
        [3, true, 2_000],
        [4, true, undefined],
      ],
    );
  });

  test("an executor that finished is not lost", () => {
    const [only] = withLosses([lane(2)], [{ ...loss(2, "etl-1-exec-2"), reason: "finished" }], 1);
    assert.equal(only?.lost, undefined);
  });
});
