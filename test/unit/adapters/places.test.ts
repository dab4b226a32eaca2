/** Places for work that runs at a time: its order, and failures. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openPlaces } from "../../../shared/adapters/places.ts";

/** Opens work that ends when it is told to; `begun`: the numbers of those that have begun, in their order. */
const openWork = () => {
  const begun: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const work = (at: number) => async (): Promise<number> => {
    begun.push(at);
    await ends[at]?.promise;
    return at;
  };
  return { begun, ends, work };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("work beyond the places begins in its order, each time that other work has ended or failed", async () => {
  const places = openPlaces(2);
  const { begun, ends, work } = openWork();
  const results = [0, 1, 2, 3].map((at) => places.within(work(at)));
  await turn();
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.resolve();
  await turn();
  assert.deepEqual(begun, [0, 1, 2]);
  const failed = assert.rejects(results[2] ?? Promise.resolve(), /broken/);
  ends[2]?.reject(new Error("broken"));
  await failed;
  await turn();
  assert.deepEqual(begun, [0, 1, 2, 3]);
  assert.equal(places.isUnused(), false);
  for (const { resolve } of ends) resolve();
  assert.deepEqual(await Promise.all([results[0], results[1], results[3]]), [0, 1, 3]);
  assert.equal(places.isUnused(), true);
});
