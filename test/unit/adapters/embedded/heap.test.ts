/** The heap: the earliest entry comes out first, and none before its time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { openHeap } from "../../../../shared/adapters/embedded/queue.ts";

describe("a heap", () => {
  test("returns the due entries, the earliest first, and keeps the rest", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100)), fc.nat(100), (times, now) => {
        const heap = openHeap<number>();
        for (const at of times) heap.push({ at, item: at });
        assert.equal(heap.next(), times.length === 0 ? undefined : Math.min(...times));
        const taken: number[] = [];
        for (let item = heap.take(now); item !== undefined; item = heap.take(now)) taken.push(item);
        const due = times.filter((at) => at <= now).sort((a, b) => a - b);
        assert.deepEqual([taken, heap.size()], [due, times.length - due.length]);
      }),
    );
  });

  test("accepts entries between two takes", () => {
    const heap = openHeap<string>();
    heap.push({ at: 3, item: "c" });
    heap.push({ at: 1, item: "a" });
    assert.equal(heap.take(0), undefined);
    assert.equal(heap.take(1), "a");
    heap.push({ at: 2, item: "b" });
    assert.deepEqual([heap.take(9), heap.take(9), heap.take(9), heap.next()], ["b", "c", undefined, undefined]);
  });
});
