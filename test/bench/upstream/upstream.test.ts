/** The latest driver in relation to its turn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { latestOf } from "./upstream.ts";

const inOrder = Array.from({ length: 100 }, (_, index) => 10 * (index + 1));

test("drivers in the order of their applications and at one pace are all in time", () => {
  assert.equal(latestOf(inOrder), 1);
});

test("a driver that comes at three times its turn shows", () => {
  assert.equal(latestOf(inOrder.map((at, index) => (index === 29 ? 3 * at : at))), 3);
});

test("the first twentieth does not count: a moment is many times their turn", () => {
  assert.equal(latestOf(inOrder.map((at, index) => (index < 5 ? 100 : at))), 1);
});
