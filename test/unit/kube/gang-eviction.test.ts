/** The mark of a group whose pods are evicted for another group. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { timeText } from "../../../shared/core/time.ts";
import {
  admissibleAt,
  type Evicted,
  evictedKey,
  evictedOf,
  evictedText,
  isKeptOut,
  isMarked,
  isMarkOver,
  isStray,
} from "../../../shared/kube/gang-eviction.ts";

const eight = Date.UTC(2026, 10, 2, 8);

const group = (text: string): Stored => ({
  ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
  metadata: { name: "g", uid: "g", resourceVersion: "1", annotations: { [evictedKey]: text } },
});

const whole: Evicted = { at: eight, by: "ns/high" };
const single: Evicted = { ...whole, pods: { w: [1, 3] } };

describe("a mark of evicted pods", () => {
  test("is parsed as it was written", () => {
    for (const mark of [whole, single, { ...single, over: true as const }])
      assert.deepEqual(evictedOf(group(evictedText(mark))), mark);
  });

  for (const text of ["", "{}", "[1]", '{"at":"x","by":"y"}', `"${"x".repeat(20_000)}"`])
    test(`is ignored if its text is ${text.slice(0, 20)}`, () => assert.equal(evictedOf(group(text)), undefined));

  test("covers the ordinals that it names, or all", () => {
    const covered = (mark: Evicted) => [0, 1].map((index) => isMarked(mark, "w", index));
    assert.deepEqual(
      [covered(whole), covered(single)],
      [
        [true, true],
        [false, true],
      ],
    );
    assert.equal(isMarked(single, "toString", 1), false);
  });

  test("keeps pods beyond the minimum out until it is over, and for 15 minutes at most", () => {
    const out = (mark: Evicted, ms: number): boolean => isKeptOut(mark, "w", 1, eight + ms);
    assert.deepEqual(
      [out(single, 0), out(single, 899_999), out(single, 900_000), out({ ...single, over: true }, 0), out(whole, 0)],
      [true, true, false, false, false],
    );
    assert.deepEqual([isMarkOver(whole, eight + 900_000), isMarkOver(single, eight + 900_000)], [false, true]);
  });

  test("lets its group be planned again after 30 s", () => assert.equal(admissibleAt(whole), eight + 30_000));

  test("tells pods whose creation was under way from those before and after", () => {
    const pod = (ms: number): Stored => {
      const { metadata } = group("");
      return { ...group(""), kind: "Pod", metadata: { ...metadata, creationTimestamp: timeText(eight + ms) } };
    };
    assert.deepEqual(
      [0, 1_000, 16_000, 17_000].map((ms) => isStray(whole, pod(ms))),
      [false, true, true, false],
    );
  });
});
