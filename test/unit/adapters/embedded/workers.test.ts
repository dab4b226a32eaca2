/** Workers: bounded concurrency, failed messages given back, and a drain that finishes those in flight. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { openQueue } from "../../../../shared/adapters/embedded/queue.ts";
import { allOrNone, startWorkers } from "../../../../shared/adapters/embedded/workers.ts";
import type { Message } from "../../../../shared/core/key.ts";

const of = (name: string): Message => ({ cluster: "here", kind: "Toy", namespace: "ns", name, reason: "" });

const turns = async (count = 5): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

type Held = { readonly name: string; readonly end: (done: boolean) => void; readonly fail: (error: Error) => void };

/** Starts workers that stop with their test, also with a failed one: their timers would keep the process alive. */
const start = (t: TestContext, parallel: number) => {
  const time = { now: 0 };
  const queue = openQueue({ now: () => time.now, visibilityMs: 90_000 });
  const held: Held[] = [];
  const take = (messages: readonly Message[]): Promise<boolean> =>
    new Promise((resolve, reject) => {
      held.push({ name: messages.map(({ name }) => name).join(" "), end: resolve, fail: reject });
    });
  const workers = startWorkers({ queue, take: allOrNone(take, 1_000), parallel, againMs: 1_000, now: () => time.now });
  t.after(() => void workers.stop(0));
  return { queue, held, workers, time };
};

describe("workers", () => {
  test("take a bounded number of keys at once, and the next one when one is done", async (t) => {
    const { queue, held, workers } = start(t, 2);
    for (const name of ["a", "b", "c"]) await queue.send(of(name), name);
    await turns();
    assert.deepEqual([held.map(({ name }) => name), workers.busy()], [["a", "b"], 2]);
    held[0]?.end(true);
    await turns();
    assert.deepEqual(
      held.map(({ name }) => name),
      ["a", "b", "c"],
    );
    for (const one of held) one.end(true);
    await workers.stop(1_000);
    assert.deepEqual(queue.depth(), { ready: 0, delayed: 0 });
  });

  test("give back a failed key, whether it threw or returned false, and take it again after its delay", async (t) => {
    const { queue, held, workers, time } = start(t, 1);
    await queue.send(of("a"), "a");
    await turns();
    held[0]?.end(false);
    await turns();
    assert.deepEqual([queue.depth().ready, held.length], [1, 1]);
    time.now += 1_000;
    await queue.send(of("b"), "b");
    await turns();
    assert.deepEqual(held.length, 2);
    held[1]?.fail(new Error("thrown"));
    await turns();
    assert.equal(held.length, 3);
    held[2]?.end(true);
    await workers.stop(1_000);
    assert.equal(queue.depth().ready, 1);
  });

  test("finish their keys and take no other after a stop", async (t) => {
    const { queue, held, workers } = start(t, 1);
    await queue.send(of("a"), "a");
    await queue.send(of("b"), "b");
    await turns();
    const stopped = workers.stop(60_000);
    held[0]?.end(true);
    await stopped;
    await queue.send(of("c"), "c");
    await turns();
    assert.deepEqual([held.map(({ name }) => name), workers.busy()], [["a"], 0]);
  });

  test("stop after their grace period although a key never ends", async (t) => {
    const { queue, held, workers } = start(t, 1);
    await queue.send(of("a"), "a");
    await turns();
    // The timer of the grace is unreferenced, so the test keeps the process alive itself.
    const alive = setInterval(() => {}, 1_000);
    await workers.stop(1);
    clearInterval(alive);
    assert.deepEqual([held.length, workers.busy()], [1, 1]);
  });

  const finish = async ({ workers, held }: ReturnType<typeof start>): Promise<void> => {
    const stopped = workers.stop(1_000);
    for (const one of held) one.end(true);
    await stopped;
  };
  const inside = (namespace: string, name: string): Message => ({ ...of(name), namespace });

  test("leave places free beside a namespace whose keys never end, for another namespace's keys", async (t) => {
    const started = start(t, 16);
    const { queue, held, workers } = started;
    for (let at = 0; at < 100; at += 1) await queue.send(inside("slow", `s${at}`), `s${at}`);
    await turns();
    assert.equal(workers.busy(), 16, "alone it has as many at once as the setting says");
    await queue.send(inside("quick", "q"), "q");
    await turns();
    assert.equal(held.at(-1)?.name, "q");
    await finish(started);
  });

  test("leave a place free beside five such namespaces", async (t) => {
    const started = start(t, 16);
    const { queue, held, workers } = started;
    for (const slow of ["a", "b", "c", "d", "e"])
      for (let at = 0; at < 100; at += 1) await queue.send(inside(slow, `${slow}${at}`), `${slow}${at}`);
    await turns();
    assert.ok(workers.busy() < 16 + 5, `${workers.busy()} of the slots, a third more than the setting, are taken`);
    await queue.send(inside("quick", "q"), "q");
    await turns();
    assert.equal(held.at(-1)?.name, "q");
    await finish(started);
  });

  test("give a namespace a place again when one of its keys is done", async (t) => {
    const started = start(t, 4);
    const { queue, held, workers } = started;
    for (let at = 0; at < 5; at += 1) await queue.send(inside("slow", `s${at}`), `s${at}`);
    await turns();
    assert.equal(workers.busy(), 4);
    held[0]?.end(true);
    await turns();
    assert.deepEqual([workers.busy(), held.length], [4, 5]);
    await finish(started);
  });
});
