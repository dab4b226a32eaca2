/**
 * The embedded queue: order and lock per group, deduplication for five minutes, delays, visibility; and a model that it
 * must agree with.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Delivery, type EmbeddedQueue, openQueue } from "../../../../shared/adapters/embedded/queue.ts";
import type { Message } from "../../../../shared/core/key.ts";

const visibilityMs = 90_000;

const of = (name: string, reason = ""): Message => ({ cluster: "here", kind: "Toy", namespace: "ns", name, reason });

const open = (): { queue: EmbeddedQueue; time: { now: number } } => {
  const time = { now: 1_000_000 };
  return { queue: openQueue({ now: () => time.now, visibilityMs }), time };
};

const shown = (deliveries: readonly Delivery[]): readonly string[] =>
  deliveries.map(({ messages }) => messages.map(({ name, reason }) => `${name}${reason}`).join(" "));

const sendAll = async (queue: EmbeddedQueue, ...texts: readonly string[]): Promise<void> => {
  for (const text of texts) await queue.send(of(text.slice(0, 1), text.slice(1)), text);
};

const taken = (queue: EmbeddedQueue, count = 10): Delivery => {
  const [delivery] = queue.receive(count);
  assert.ok(delivery);
  return delivery;
};

describe("a group", () => {
  test("is delivered in order, with all its waiting messages", async () => {
    const { queue } = open();
    await sendAll(queue, "a1", "b1", "a2", "a3");
    assert.deepEqual(shown(queue.receive(10)), ["a1 a2 a3", "b1"]);
  });

  test("is locked while its delivery is in flight, and its later messages follow the acknowledgement", async () => {
    const { queue } = open();
    await sendAll(queue, "a1");
    const first = taken(queue);
    await sendAll(queue, "a2", "a3");
    assert.deepEqual(queue.receive(10), []);
    queue.acknowledge(first);
    assert.deepEqual(shown(queue.receive(10)), ["a2 a3"]);
  });

  test("blocks no other group", async () => {
    const { queue } = open();
    await sendAll(queue, "a1");
    taken(queue);
    await sendAll(queue, "b1");
    assert.deepEqual(shown(queue.receive(10)), ["b1"]);
  });

  test("that waits longest comes first, however few groups a call receives", async () => {
    const { queue } = open();
    await sendAll(queue, "a1", "b1", "c1");
    assert.deepEqual(
      [shown(queue.receive(0)), shown(queue.receive(2)), shown(queue.receive(2))],
      [[], ["a1", "b1"], ["c1"]],
    );
  });

  test("that was given back comes after the groups that wait", async () => {
    const { queue, time } = open();
    await sendAll(queue, "a1", "b1");
    queue.giveBack(taken(queue, 1), 1_000);
    time.now += 1_000;
    assert.deepEqual(shown(queue.receive(1)), ["b1"]);
    assert.deepEqual(shown(queue.receive(1)), ["a1"]);
  });
});

describe("a message with a repeated id", () => {
  const cases = [
    { name: "is dropped within five minutes", laterMs: 299_999, want: 1 },
    { name: "is accepted after five minutes", laterMs: 300_000, want: 2 },
  ];
  for (const { name, laterMs, want } of cases) {
    test(name, async () => {
      const { queue, time } = open();
      await queue.send(of("a", "1"), "id");
      time.now += laterMs;
      await queue.send(of("a", "2"), "id");
      assert.equal(queue.depth().ready, want);
    });
  }

  test("is dropped even if the first one is acknowledged, with or without a delay", async () => {
    const { queue } = open();
    await queue.send(of("a"), "id");
    queue.acknowledge(taken(queue));
    await queue.send(of("a"), "id");
    await queue.sendLater(of("a"), "id", 5);
    assert.deepEqual(queue.depth(), { ready: 0, delayed: 0 });
  });
});

describe("delays", () => {
  const cases = [
    { delayMs: 5_000, at: 5_000 },
    { delayMs: 0, at: 0 },
    { delayMs: -5, at: 0 },
    { delayMs: 10_000_000, at: 900_000 },
  ];
  for (const { delayMs, at } of cases) {
    test(`of ${delayMs} ms end after ${at} ms`, async () => {
      const { queue, time } = open();
      await queue.sendLater(of("a"), "id", delayMs);
      assert.equal(queue.nextDue(), time.now + at);
      time.now += at - 1;
      const early = queue.receive(1).length;
      time.now += 1;
      assert.deepEqual([early, queue.receive(1).length], [0, 1]);
    });
  }

  test("end in the order of their instants", async () => {
    const { queue, time } = open();
    for (const [index, delay] of [50, 10, 40, 30, 20].entries())
      await queue.sendLater(of("a", String(delay)), `i${index}`, delay);
    time.now += 100;
    assert.deepEqual(shown(queue.receive(1)), ["a10 a20 a30 a40 a50"]);
  });
});

describe("a receipt", () => {
  test("that has expired acknowledges nothing, and its messages come again", async () => {
    const { queue, time } = open();
    await sendAll(queue, "a1");
    const first = taken(queue);
    assert.equal(queue.nextDue(), time.now + visibilityMs);
    time.now += visibilityMs;
    const second = taken(queue);
    queue.acknowledge(first);
    assert.equal(queue.depth().ready, 1);
    queue.giveBack(first, 0);
    assert.deepEqual(queue.receive(1), []);
    queue.acknowledge(second);
    assert.deepEqual(queue.depth(), { ready: 0, delayed: 0 });
  });

  test("acknowledges the messages of its delivery, and no later ones", async () => {
    const { queue } = open();
    await sendAll(queue, "a1");
    const first = taken(queue);
    await sendAll(queue, "a2");
    queue.acknowledge(first);
    queue.acknowledge(first);
    assert.deepEqual(shown(queue.receive(1)), ["a2"]);
  });

  for (const delayMs of [0, 1_000, 600_000]) {
    test(`that is given back for ${delayMs} ms locks its group for exactly that time`, async () => {
      const { queue, time } = open();
      await sendAll(queue, "a1");
      queue.giveBack(taken(queue), delayMs);
      await sendAll(queue, "a2");
      if (delayMs > 0) {
        time.now += delayMs - 1;
        assert.deepEqual(queue.receive(1), []);
        time.now += 1;
      }
      assert.deepEqual(shown(queue.receive(1)), ["a1 a2"]);
    });
  }
});

describe("a listener of the queue", () => {
  test("is called for a message, for a delay, and for a group that is unlocked", async () => {
    const { queue } = open();
    let heard = 0;
    queue.onReady(() => {
      heard += 1;
    });
    await sendAll(queue, "a1");
    await queue.sendLater(of("b"), "b", 5);
    await queue.send(of("a"), "a1");
    assert.equal(heard, 2);
    const first = taken(queue);
    await sendAll(queue, "a2");
    queue.acknowledge(first);
    assert.equal(heard, 4);
  });
});

describe("namespaces", () => {
  const inside = (namespace: string, name: string): Message => ({ ...of(name), namespace });
  const flood = async (queue: EmbeddedQueue, count: number): Promise<void> => {
    for (let index = 0; index < count; index++) await queue.send(inside("flood", `f${index}`), `f${index}`);
  };
  const namesOf = (deliveries: readonly Delivery[]): readonly string[] =>
    deliveries.map(({ messages }) => messages.map(({ namespace, name }) => `${namespace}/${name}`).join(" "));

  test("take turns: a namespace with one key waits for one delivery of each other namespace at most", async () => {
    const { queue } = open();
    await flood(queue, 10_000);
    await queue.send(inside("quiet", "q"), "q");
    await queue.send(inside("third", "t"), "t");
    assert.deepEqual(namesOf(queue.receive(4)), ["flood/f0", "quiet/q", "third/t", "flood/f1"]);
  });

  test("that send later have the turn after the next, and a repeated message of a key gains no turn", async () => {
    const { queue } = open();
    await flood(queue, 100);
    assert.deepEqual(namesOf(queue.receive(2)), ["flood/f0", "flood/f1"]);
    await queue.send(inside("quiet", "q"), "q1");
    await queue.send(inside("quiet", "q"), "q2");
    assert.deepEqual(namesOf(queue.receive(3)), ["flood/f2", "quiet/q quiet/q", "flood/f3"]);
  });

  test("keep the order of their own keys", async () => {
    const { queue } = open();
    for (const name of ["a", "b", "c"]) {
      await queue.send(inside("one", name), `1${name}`);
      await queue.send(inside("two", name), `2${name}`);
    }
    assert.deepEqual(namesOf(queue.receive(6)), ["one/a", "two/a", "one/b", "two/b", "one/c", "two/c"]);
  });

  test("receive as many keys in a turn as their weight", async () => {
    const weightOf = (namespace: string): number => (namespace === "flood" ? 3 : 1);
    const queue = openQueue({ now: () => 0, visibilityMs, weightOf });
    await flood(queue, 8);
    for (const name of ["a", "b"]) await queue.send(inside("quiet", name), name);
    const order = namesOf(queue.receive(10)).map((name) => name.split("/")[0]);
    assert.deepEqual(order, ["flood", "flood", "flood", "quiet", "flood", "flood", "flood", "quiet", "flood", "flood"]);
  });

  test("that the caller does not admit are skipped, and keep their turn", async () => {
    const { queue } = open();
    await flood(queue, 3);
    await queue.send(inside("quiet", "q"), "q");
    assert.deepEqual(namesOf(queue.receive(4, (namespace) => namespace !== "flood")), ["quiet/q"]);
    assert.deepEqual(namesOf(queue.receive(1)), ["flood/f0"]);
  });
});
