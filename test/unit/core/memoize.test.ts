/** Memoization by a value's identity. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { oncePer, oncePerObject } from "../../../shared/core/cache.ts";

test("one value is worked on once, an equal one again", () => {
  const asked: string[] = [];
  const upper = oncePer(({ name }: { readonly name: string }) => {
    asked.push(name);
    return { name: name.toUpperCase() };
  });
  const pod = { name: "a" };
  assert.equal(upper(pod), upper(pod));
  assert.deepEqual(upper({ name: "a" }), { name: "A" });
  assert.deepEqual(asked, ["a", "a"]);
});

test("what is no object is worked on whenever it is asked for", () => {
  let times = 0;
  const text = oncePerObject((value) => {
    times += 1;
    return String(value);
  });
  const list: readonly number[] = [1, 2];
  assert.deepEqual([text(7), text(7), text(null), text(undefined), text(list), text(list)].length, 6);
  assert.equal(times, 5);
  assert.equal(text(list), "1,2");
});
