/** The grant of a quota to a run: after refusals, with time, and after looks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Grant,
  grantAfterLook,
  grantedAt,
  grantShape,
  refusedGrant,
} from "../../../../shared/spark/executors/allotment.ts";

const grant: Grant = { executors: 3, until: 10_000, times: 1, why: "exceeded quota: team" };

describe("the executors that a quota grants", () => {
  test("are unlimited without a grant", () => assert.equal(grantedAt([undefined], 0), Infinity));

  test("are those that lived at the refusal, and one more at the next try", () => {
    assert.deepEqual([grantedAt([grant], 9_999), grantedAt([grant], 10_000)], [3, 4]);
  });

  test("are the least of all grants", () => {
    assert.equal(grantedAt([{ ...grant, executors: 7 }, undefined, grant], 0), 3);
  });

  test("are tried again after 5 s, and after twice the time with each refusal, a minute at most", () => {
    const waits: number[] = [];
    let after: Grant | undefined;
    for (let count = 0; count < 6; count++) {
      after = refusedGrant(after, 3, "x".repeat(900), 0);
      grantShape.parse(after);
      waits.push(after.until);
    }
    assert.deepEqual(waits, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  const looks: readonly (readonly [what: string, living: number, wanted: number, stands: boolean])[] = [
    ["as many as were granted live", 3, 9, true],
    ["fewer live", 2, 9, true],
    ["more live", 4, 9, false],
    ["no more are wanted", 3, 3, false],
  ];
  for (const [what, living, wanted, stands] of looks)
    test(`${stands ? "stand" : "are forgotten"} when ${what}`, () =>
      assert.equal(grantAfterLook(grant, living, wanted), stands ? grant : undefined));
});
