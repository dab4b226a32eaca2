/**
 * The share of a namespace in functions: what gives way and when; and a queue in turned time, where one namespace has
 * sent ten thousand keys before another sends ten.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openNamespaceShare } from "../../../shared/engine/load-limits.ts";
import { type Delivered, intake } from "../../../shared/engine/reconcile/intake.ts";
import { message, openFixture } from "./fakes.ts";

const even = (): number => 1;

const opened = (weightOf: (namespace: string) => number = even) => {
  const time = { now: 1_000_000 };
  return { time, share: openNamespaceShare({ weightOf, now: () => time.now, clock: () => time.now }) };
};

describe("a namespace whose messages wait for more than five seconds", () => {
  test("gives way for as long as its last steps took", () => {
    const { time, share } = opened();
    const old = time.now - 6_000;
    assert.equal(share.givesWay("large", old), false);
    share.took("large", 800);
    assert.deepEqual([share.givesWay("large", old), share.givesWay("small", old)], [true, false]);
    time.now += 799;
    assert.equal(share.givesWay("large", old), true);
    time.now += 1;
    assert.equal(share.givesWay("large", old), false);
  });

  test("gives way for a quarter of that time if its weight is four", () => {
    const { time, share } = opened((namespace) => (namespace === "large" ? 4 : 1));
    share.took("large", 800);
    time.now += 199;
    assert.equal(share.givesWay("large", 0), true);
    time.now += 1;
    assert.equal(share.givesWay("large", 0), false);
  });

  test("does not give way while its messages are handed out at once", () => {
    const { time, share } = opened();
    share.took("large", 800);
    assert.equal(share.givesWay("large", time.now - 4_000), false);
  });

  test("does not give way if it has no name: messages of queues and notices belong to the cluster", () => {
    const { share } = opened();
    share.took("", 800);
    assert.equal(share.givesWay("", 0), false);
  });
});

const delivered = (name: string, sentAt?: number): Delivered => ({
  id: `m-${name}`,
  received: 1,
  body: JSON.stringify({ ...message, name }),
  sentAt,
});

describe("a function's batch", () => {
  const settled = () => openFixture(() => ({ memory: { count: 1 }, stages: [], next: { do: "rest" } }));
  const paused = () => {
    const { time, share } = opened();
    share.took(message.namespace, 1_000);
    return { share, old: time.now - 6_000, young: time.now - 1_000 };
  };

  test("sends a key of a namespace that gives way to the end of the queue, and begins the other keys", async () => {
    const { world, sent, calls } = settled();
    const { share, old, young } = paused();
    const batch = [delivered("bear", old), delivered("wolf", young), delivered("lynx")];
    assert.deepEqual(await intake({ ...world, share }, batch), []);
    const [back] = sent;
    assert.deepEqual([sent.length, back?.message], [1, message]);
    assert.ok(back !== undefined && back.delayMs >= 5_000 && back.delayMs < 20_000);
    assert.deepEqual(
      ["bear", "wolf", "lynx"].map((name) => calls.some((call) => call.includes(name))),
      [false, true, true],
    );
  });

  test("returns a message for another delivery if its key cannot be sent back", async () => {
    const { world } = settled();
    const { share, old } = paused();
    const queue = { ...world.queue, sendLater: () => Promise.reject(new Error("the queue is gone")) };
    assert.deepEqual(await intake({ ...world, queue, share }, [delivered("bear", old)]), ["m-bear"]);
  });

  test("counts the time of its steps against their namespace", async () => {
    const { world } = settled();
    const counted: string[] = [];
    const share = { givesWay: () => false, took: (namespace: string) => void counted.push(namespace) };
    await intake({ ...world, share }, [delivered("bear")]);
    assert.deepEqual(counted, ["ns"]);
  });
});

type Waiting = { readonly namespace: string; readonly sentAt: number };

const functions = 20;
const [stepMs, sendingBackMs] = [1_000, 30];

/** Returns the ms from the sending of ten keys, 6 s after another namespace's ten thousand, until their steps are done. */
const tenBehind = (bounded: boolean): number => {
  const time = { now: 0 };
  const clocks = { weightOf: even, now: () => time.now, clock: () => time.now };
  const environments = Array.from({ length: functions }, () => ({ free: 0, share: openNamespaceShare(clocks) }));
  const sentAt = 6_000;
  const queue: Waiting[] = [
    ...Array.from({ length: 10_000 }, () => ({ namespace: "large", sentAt: 0 })),
    ...Array.from({ length: 10 }, () => ({ namespace: "small", sentAt })),
  ];
  for (let left = 10; left > 0; ) {
    const [next] = environments.toSorted((a, b) => a.free - b.free);
    assert.ok(next !== undefined);
    time.now = next.free;
    const batch = queue.splice(0, 10).filter((one) => one.sentAt <= time.now);
    const taken = batch.filter(({ namespace, sentAt: at }) => !bounded || !next.share.givesWay(namespace, at));
    next.free = time.now + (taken.length > 0 ? stepMs : sendingBackMs);
    time.now = next.free;
    for (const { namespace } of taken) next.share.took(namespace, stepMs);
    left -= taken.filter(({ namespace }) => namespace === "small").length;
  }
  return time.now - sentAt;
};

describe("ten keys behind ten thousand keys of another namespace", () => {
  test("wait for the whole backlog if the queue does not share its time among namespaces", () => {
    assert.ok(tenBehind(false) > 40_000);
  });

  test("are done within seconds if each namespace has a share", () => {
    assert.ok(tenBehind(true) < 6_000);
  });
});
