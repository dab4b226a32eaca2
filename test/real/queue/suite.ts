/**
 * The behaviours that every queue must have, as one table: the embedded queue in `npm test`, SQS on a third-party
 * server.
 */

import assert from "node:assert/strict";
import { dedupe } from "../../../shared/core/key.ts";
import { testCase } from "../../support/test-case.ts";
import { type Behaviour, maxReceives, messageOf, of, sendAll, shown, visibilityMs } from "./counter.ts";
import { poison } from "./poison.ts";

const pod = (resourceVersion: string) => ({ kind: "Pod", uid: "u1", resourceVersion });

const groups: readonly Behaviour[] = [
  testCase("messages of a group come in one batch, in order, with those of others", async (counter) => {
    await sendAll(counter, "a1 b1 a2 a3");
    const handed = await counter.receive();
    assert.deepEqual([shown(of(handed, "a")), shown(of(handed, "b"))], ["a1 a2 a3", "b1"]);
  }),
  testCase("a group is locked while a batch of it is out", async (counter) => {
    await sendAll(counter, "a1");
    assert.equal(shown(await counter.receive()), "a1");
    await sendAll(counter, "a2");
    assert.equal(shown(await counter.receive()), "");
  }),
  testCase("a locked group holds up no other", async (counter) => {
    await sendAll(counter, "a1");
    await counter.receive();
    await sendAll(counter, "a2 b1");
    assert.equal(shown(await counter.receive()), "b1");
  }),
  testCase("what came meanwhile comes after the acknowledgement, and nothing of before", async (counter) => {
    await sendAll(counter, "a1");
    const first = await counter.receive();
    await sendAll(counter, "a2 a3");
    await counter.acknowledge(first);
    assert.equal(shown(await counter.receive()), "a2 a3");
  }),
  testCase("sends that nobody waited for keep the order of their group", async (counter) => {
    const numbers = Array.from({ length: 12 }, (_, index) => String.fromCharCode(65 + index));
    await Promise.all(
      numbers.flatMap((mark) => ["a", "b"].map((name) => counter.send(messageOf(name, mark), name + mark))),
    );
    let seen = "";
    for (let round = 0; round < 4; round += 1) {
      const handed = await counter.receive();
      seen += of(handed, "a")
        .map(({ message }) => message.reason)
        .join("");
      await counter.acknowledge(handed);
    }
    assert.equal(seen, numbers.join(""));
  }),
];

const ids: readonly Behaviour[] = [
  testCase("a repeated id vanishes", async (counter) => {
    await counter.send(messageOf("a", "1"), "same");
    await counter.send(messageOf("a", "2"), "same");
    assert.equal(shown(await counter.receive()), "a1");
  }),
  testCase("a repeated id vanishes also when the first is done", async (counter) => {
    await counter.send(messageOf("a", "1"), "same");
    await counter.acknowledge(await counter.receive());
    await counter.send(messageOf("a", "2"), "same");
    assert.equal(shown(await counter.receive()), "");
  }),
  testCase("of two forwarders' copies of one event, one comes", async (counter) => {
    const message = messageOf("a", "1");
    await Promise.all([1, 2].map(() => counter.send(message, dedupe.watch(message, pod("7")))));
    assert.equal(shown(await counter.receive()), "a1");
  }),
  testCase("two events of one object within five minutes both come", async (counter) => {
    const message = messageOf("a", "1");
    await counter.send(message, dedupe.watch(message, pod("7")));
    await counter.send({ ...message, reason: "2" }, dedupe.watch(message, pod("8")));
    assert.equal(shown(await counter.receive()), "a1 a2");
  }),
  testCase("ids of one event for two keys do not cancel each other", async (counter) => {
    for (const name of ["a", "b"]) {
      const message = messageOf(name, "1");
      await counter.send(message, dedupe.watch(message, pod("7")));
    }
    assert.equal((await counter.receive()).length, 2);
  }),
  testCase("ids of every source differ for one key", async (counter) => {
    const key = messageOf("a", "1");
    const each = [dedupe.gone(key, "x"), dedupe.timer(key, "x"), dedupe.sweep(key, "x"), dedupe.trigger(key, "x")];
    for (const id of each) await counter.send(key, id);
    assert.equal((await counter.receive()).length, 4);
  }),
];

const deliveries: readonly Behaviour[] = [
  testCase("what is not acknowledged comes again when its visibility ends, all of it and in order", async (counter) => {
    await sendAll(counter, "a1 a2");
    assert.deepEqual(
      (await counter.receive()).map(({ received }) => received),
      [1, 1],
    );
    await counter.pass(visibilityMs + 300);
    const again = await counter.receive();
    assert.deepEqual([shown(again), again.map(({ received }) => received)], ["a1 a2", [2, 2]]);
  }),
  testCase("a receipt that is over acknowledges nothing", async (counter) => {
    await sendAll(counter, "a1");
    const first = await counter.receive();
    await counter.pass(visibilityMs + 300);
    const second = await counter.receive();
    assert.equal(shown(second), "a1");
    await counter.acknowledge(first);
    await counter.pass(visibilityMs + 300);
    assert.equal(shown(await counter.receive()), "a1");
  }),
  testCase("what is given back keeps its group locked so long, and comes before what came later", async (counter) => {
    await sendAll(counter, "a1");
    await counter.giveBack(await counter.receive(), 1_000);
    await sendAll(counter, "a2");
    assert.equal(shown(await counter.receive()), "");
    await counter.pass(1_300);
    assert.equal(shown(await counter.receive()), "a1 a2");
  }),
  testCase("what is given back for no time comes at once", async (counter) => {
    await sendAll(counter, "a1");
    await counter.giveBack(await counter.receive(), 0);
    assert.equal(shown(await counter.receive()), "a1");
  }),
  testCase("of a batch with one failed group, the other group goes on at once", async (counter) => {
    await sendAll(counter, "a1 b1 a2");
    const handed = await counter.receive();
    assert.equal(handed.length, 3);
    await counter.giveBack(of(handed, "a"), 1_000);
    await counter.acknowledge(of(handed, "b"));
    await sendAll(counter, "b2 a3");
    const innocent = await counter.receive();
    assert.deepEqual([shown(innocent), innocent.map(({ received }) => received)], ["b2", [1]]);
    await counter.acknowledge(innocent);
    await counter.pass(1_300);
    assert.equal(shown(await counter.receive()), "a1 a2 a3");
  }),
  testCase("what was delivered too often is put aside, and its group goes on", async (counter) => {
    await sendAll(counter, "a1");
    for (let time = 1; time <= maxReceives; time += 1) {
      const handed = await counter.receive();
      assert.deepEqual([shown(handed), handed[0]?.received], ["a1", time]);
      await counter.giveBack(handed, 0);
    }
    await sendAll(counter, "a2");
    // SQS moves the message at the next receive, which may still be empty.
    const next = [...(await counter.receive()), ...(await counter.receive())];
    assert.deepEqual([shown(next), await counter.dead()], ["a2", ["1"]]);
  }),
];

const waiting: readonly Behaviour[] = [
  testCase("a timer comes when it is due and not before", async (counter) => {
    await counter.sendLater(messageOf("a", "1"), "timer", 2_000);
    assert.equal(shown(await counter.receive()), "");
    await counter.pass(2_600);
    assert.equal(shown(await counter.receive()), "a1");
  }),
  testCase("of a timer that was armed twice, one comes", async (counter) => {
    for (let time = 0; time < 2; time += 1) await counter.sendLater(messageOf("a", "1"), "timer", 1_000);
    await counter.pass(1_600);
    assert.equal(shown(await counter.receive()), "a1");
  }),
  testCase("a timer further away than the queue can hold is taken", async (counter) => {
    await counter.sendLater(messageOf("a", "1"), "far", 10_000_000);
    assert.equal(shown(await counter.receive()), "");
  }),
  testCase("a poll ends with the first message", async (counter) => {
    const polled = counter.poll(10_000);
    await sendAll(counter, "a1");
    assert.equal(shown(await polled), "a1");
  }),
  testCase("a poll ends when a group is free again", async (counter) => {
    await sendAll(counter, "a1");
    const first = await counter.receive();
    await sendAll(counter, "a2");
    const polled = counter.poll(10_000);
    await counter.acknowledge(first);
    assert.equal(shown(await polled), "a2");
  }),
];

const told = async (refusal: Promise<string>, ...words: readonly string[]): Promise<void> => {
  const text = await refusal;
  for (const word of words) assert.ok(text.includes(word), text);
  assert.ok(!text.includes("\n"), text);
};

/** Refusals of SQS only: the embedded queue has no such requests. */
export const refusals: readonly (Behaviour & { readonly needs: "raw" })[] = [
  {
    name: "a delay of one message on the FIFO queue is refused",
    needs: "raw",
    run: async ({ raw }) => told(raw?.sendDelayedToFifo() ?? Promise.resolve(""), "DelaySeconds"),
  },
  {
    name: "a body larger than the queue takes is refused in one line",
    needs: "raw",
    run: async ({ raw }) => told(raw?.sendLarge() ?? Promise.resolve(""), "SQS SendMessage"),
  },
  {
    name: "a queue that does not exist is one line that names it",
    needs: "raw",
    run: async ({ raw }) => told(raw?.sendTo("missing") ?? Promise.resolve(""), "no such queue", "missing"),
  },
  {
    name: "a queue that is not FIFO is one line that says so",
    needs: "raw",
    run: async ({ raw }) => told(raw?.sendTo("standard") ?? Promise.resolve(""), "FIFO", "standard"),
  },
];

export const behaviours: readonly Behaviour[] = [...groups, ...ids, ...deliveries, ...waiting, ...poison];
