/** Sets of ids as ranges: equal sets have equal texts, at any size. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  countOfIds,
  hasId,
  idSet,
  idsOf,
  idsShape,
  listOfIds,
  mergedInto,
  rangesShape,
  textOfIds,
  union,
} from "../../../../shared/spark/executors/ids.ts";

describe("a set of ids", () => {
  const rows: readonly (readonly [ids: readonly number[], text: string])[] = [
    [[], ""],
    [[7], "7"],
    [[1, 2, 3], "1-3"],
    [[3, 1, 2, 2, 9, 7], "1-3,7,9"],
    [[1_001, 1_003, 1_002, 5], "5,1001-1003"],
  ];
  for (const [ids, text] of rows)
    test(`of ${JSON.stringify(ids)} is written ${JSON.stringify(text)}, and read again`, () => {
      assert.equal(textOfIds(idSet(ids)), text);
      assert.ok(rangesShape.safeParse(text).success);
      assert.deepEqual(
        listOfIds(idsOf(text)),
        [...new Set(ids)].sort((a, b) => a - b),
      );
      assert.equal(countOfIds(idsOf(text)), new Set(ids).size);
    });

  test("contains its ids, at every edge of its ranges", () => {
    const ids = idsOf("1-3,7,10-12");
    const inside = Array.from({ length: 15 }, (_, id) => id).filter((id) => hasId(ids, id));
    assert.deepEqual(inside, [1, 2, 3, 7, 10, 11, 12]);
  });

  test("can be joined with another", () =>
    assert.equal(textOfIds(union(idsOf("1-3,9"), idsOf("4,8,20"))), "1-4,8-9,20"));

  test("of 10,000 executors is a short text", () =>
    assert.equal(textOfIds(idSet(Array.from({ length: 10_000 }, (_, at) => at + 1))), "1-10000"));

  const strange = ["a", "1-", "-1", "1,,2", "1-2-3", "1234567890", "1 2", "1\n"];
  for (const text of strange)
    test(`is not ${JSON.stringify(text)}`, () => assert.ok(!rangesShape.safeParse(text).success));

  test("that is iterated is rejected above 100,000 ids", () => {
    const read = ["1-100000", "1-100001", "1-60000,70001-110001", "1-999999999"].map((text) =>
      idsShape.safeParse(text),
    );
    assert.deepEqual(
      read.map(({ success }) => success),
      [true, false, false, false],
    );
  });
});

describe("a set with too many ranges", () => {
  const rows: readonly (readonly [what: string, most: number, apart: string, text: string])[] = [
    ["is kept if the ranges are few enough", 4, "", "1,3,5,7"],
    ["loses the lowest gaps first", 2, "", "1-5,7"],
    ["keeps a gap with a live executor", 2, "4", "1-3,5-7"],
    ["stays as it is if every gap has a live executor", 1, "2,4,6", "1,3,5,7"],
  ];
  for (const [what, most, apart, text] of rows)
    test(what, () => assert.equal(textOfIds(mergedInto(idsOf("1,3,5,7"), most, idsOf(apart))), text));
});
