/** Messages that senders store: a message under its group, a timer as a schedule for that subject, both under their ids. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { depthOf, namesOf, natsQueue } from "../../../../shared/adapters/nats/streams.ts";
import { groupOf } from "../../../../shared/core/key.ts";
import { readMessage } from "../../../../shared/engine/message.ts";
import { messageOf } from "../../../real/queue/counter.ts";
import { recordedNats } from "../../../support/nats.ts";

const names = namesOf("q");
const message = messageOf("a", "watch");
const group = groupOf(message);

const open = () => {
  const nats = recordedNats();
  return { nats, queue: natsQueue({ nats, names, open: async () => ({ now: () => Date.UTC(2026, 0, 1) }) }) };
};

describe("the queue on NATS", () => {
  test("stores a message under the subject of its group, with its id", async () => {
    const { nats, queue } = open();
    await queue.send(message, "an id");
    const [one] = nats.asked;
    assert.deepEqual([one?.subject, one?.headers], [`q.k.${group}`, { "Nats-Msg-Id": "an id" }]);
    assert.deepEqual(readMessage(String(one?.payload)), message);
  });

  test("stores a timer as a schedule by the server's clock", async () => {
    const { nats, queue } = open();
    await queue.sendLater(message, "t1", 90_000);
    const [one] = nats.asked;
    assert.equal(one?.subject, `q.at.${group}.t1`);
    assert.deepEqual(one?.headers, {
      "Nats-Msg-Id": "t1",
      "Nats-Schedule": "@at 2026-01-01T00:01:30.000Z",
      "Nats-Schedule-Target": `q.k.${group}`,
    });
  });

  test("counts waiting and delivered messages as ready, and timers as delayed", async () => {
    const nats = recordedNats(({ subject }) =>
      subject.includes("CONSUMER.INFO") ? { num_pending: 4, num_ack_pending: 3 } : { state: { messages: 9 } },
    );
    assert.deepEqual(await depthOf(nats, names), { ready: 7, delayed: 2 });
  });
});
