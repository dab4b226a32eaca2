/** A part of the cases of an exhaustive test, and all of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allCases, everyNth } from "../../support/cases.ts";

describe("the cases of an exhaustive test", () => {
  const cases = [0, 1, 2, 3, 4, 5, 6];
  const before = process.env[allCases];
  const under = (value: string | undefined, of: () => readonly number[]): readonly number[] => {
    if (value === undefined) delete process.env[allCases];
    else process.env[allCases] = value;
    try {
      return of();
    } finally {
      if (before === undefined) delete process.env[allCases];
      else process.env[allCases] = before;
    }
  };

  test("are every n-th, and each of them is in one of n parts", () => {
    assert.deepEqual(
      under(undefined, () => everyNth(3, cases)),
      [0, 3, 6],
    );
    const parts = [0, 1, 2].flatMap((from) => under(undefined, () => everyNth(3, cases, from)));
    assert.deepEqual([...parts].sort(), cases);
  });

  test("are all where all are wanted", () => {
    assert.deepEqual(
      under("1", () => everyNth(3, cases)),
      cases,
    );
  });
});
