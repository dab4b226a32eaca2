/** Tests the judgements of the lane on made-up changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createdTooOften, longestHalf, mostTogether, type PodChange, wereTogether } from "./judgements.ts";

const change = (at: number, pod: string, more: Partial<PodChange> = {}): PodChange => ({
  ...{ at, pod, uid: pod, job: pod.slice(0, 1), state: "alive" },
  ...more,
});
const on = { node: "n" };

const rows: readonly (readonly [name: string, changes: readonly PodChange[], ms: number])[] = [
  ["no pod has a node", [change(0, "a0"), change(5, "a1")], 0],
  ["the second pod gets its node after 7 ms", [change(10, "a0", on), change(17, "a1", on)], 7],
  ["one pod gets no node", [change(10, "a0", on), change(17, "a1")], 90],
  ["the bound pod is taken back", [change(10, "a0", on), change(40, "a0", { ...on, state: "gone" })], 30],
  [
    "a whole gang loses a pod",
    [change(10, "a0", on), change(10, "a1", on), change(20, "a1", { ...on, state: "gone" })],
    0,
  ],
  [
    "a gang that was whole and gone is half again",
    [
      ...[change(1, "a0", on), change(1, "a1", on)],
      ...[change(2, "a0", { ...on, state: "gone" }), change(2, "a1", { ...on, state: "gone" })],
      change(60, "a0", { ...on, uid: "again" }),
    ],
    40,
  ],
  [
    "its pod finishes before the second has a node",
    [change(0, "a0", on), change(30, "a0", { ...on, state: "over" })],
    30,
  ],
  ["another gang has a node", [change(10, "b0", on)], 0],
];

for (const [name, changes, ms] of rows)
  test(`a gang of two is half for ${ms} ms: ${name}`, () => {
    assert.equal(longestHalf(changes, "a", 2, 100), ms);
  });

test("two gangs are together while both have an unfinished pod", () => {
  const first = [change(0, "a0"), change(1, "a0", { state: "over" })];
  assert.equal(wereTogether([...first, change(2, "b0")], "a", "b"), false);
  assert.equal(wereTogether([change(0, "b0"), ...first], "a", "b"), true);
});

test("a name with two UIDs was created too often, unless its gang started twice", () => {
  const changes = [change(0, "a0"), change(1, "a0", { uid: "again" }), change(2, "b0")];
  assert.deepEqual(
    createdTooOften(changes, () => 1),
    ["a0 was created 2 times, expected 1"],
  );
  assert.deepEqual(
    createdTooOften(changes, (job) => (job === "a" ? 2 : 1)),
    [],
  );
});

test("gangs are counted while they have an unfinished pod with a node", () => {
  const both = [change(0, "a0", on), change(1, "b0"), change(2, "b0", on), change(3, "a0", { ...on, state: "over" })];
  assert.equal(mostTogether(both), 2);
  assert.equal(mostTogether([change(0, "a0", on), change(1, "b0"), change(2, "a1", on)]), 1);
  assert.equal(mostTogether([change(0, "a0", on), change(1, "a0", { ...on, state: "over" }), change(2, "b0", on)]), 1);
});
