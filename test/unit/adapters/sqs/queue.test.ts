/** The queue on SQS: its messages and requests, and its errors when SQS refuses. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sqsQueue } from "../../../../shared/adapters/sqs/queue.ts";
import { isRecord } from "../../../../shared/core/json.ts";
import { groupOf, type Message } from "../../../../shared/core/key.ts";
import { readMessage } from "../../../../shared/engine/message.ts";

import { type Asked, type FakeSqs, openFake, type Reply, taken } from "./fake.ts";

const of = (name: string, reason = "r"): Message => ({ cluster: "c", kind: "Toy", namespace: "ns", name, reason });

const withQueue =
  (
    reply: (asked: Asked, nth: number) => Reply,
    act: (queue: ReturnType<typeof sqsQueue>, fake: FakeSqs) => Promise<void>,
  ) =>
  async (): Promise<void> => {
    const fake = await openFake(reply);
    try {
      await act(sqsQueue({ fifo: `${fake.url}/0/keys.fifo`, delay: `${fake.url}/0/later` }), fake);
    } finally {
      fake.close();
    }
  };

const entriesOf = (asked: Asked | undefined): readonly Record<string, unknown>[] => {
  const entries = asked?.input["Entries"];
  return Array.isArray(entries) ? entries.filter(isRecord) : [];
};

describe("the queue on SQS", () => {
  test(
    "sends a key to its group, with the given id",
    withQueue(taken, async (queue, fake) => {
      await queue.send(of("a"), "id-1");
      const [{ action, input } = { action: "", input: {} }] = fake.asked;
      assert.deepEqual(
        [action, input["MessageGroupId"], input["MessageDeduplicationId"], input["DelaySeconds"]],
        ["SendMessage", groupOf(of("a")), "id-1", undefined],
      );
      assert.deepEqual(readMessage(String(input["MessageBody"])), of("a"));
    }),
  );

  test(
    "shortens a long reason",
    withQueue(taken, async (queue, fake) => {
      await queue.send(of("a", "x".repeat(300)), "id");
      assert.equal(readMessage(String(fake.asked[0]?.input["MessageBody"]))?.reason.length, 200);
    }),
  );

  test(
    "sends simultaneous messages in batches of ten, each group in order",
    withQueue(taken, async (queue, fake) => {
      const names = ["a", "b", "a", "c", "a", "d", "a", "e", "a", "f", "a", "g"];
      await Promise.all(names.map((name, at) => queue.send(of(name, String(at)), `id-${at}`)));
      const batches = fake.asked.map(({ action, input }) =>
        action === "SendMessage" ? [input] : entriesOf({ action, input }),
      );
      const inGroup = batches.flat().filter((entry) => entry["MessageGroupId"] === groupOf(of("a")));
      assert.deepEqual(
        inGroup.map((entry) => entry["MessageDeduplicationId"]),
        ["id-0", "id-2", "id-4", "id-6", "id-8", "id-10"],
      );
      assert.deepEqual(batches.map(({ length }) => length).sort(), [1, 1, 10]);
    }),
  );

  const delays = [
    { delayMs: 0, seconds: 0 },
    { delayMs: 1, seconds: 1 },
    { delayMs: 1_500, seconds: 2 },
    { delayMs: 10_000_000, seconds: 900 },
    { delayMs: -5, seconds: 0 },
  ];
  for (const { delayMs, seconds } of delays) {
    test(
      `delays ${delayMs} ms by ${seconds} s, with the id that the key will have`,
      withQueue(taken, async (queue, fake) => {
        await queue.sendLater(of("a"), "timer-1", delayMs);
        const input = fake.asked[0]?.input ?? {};
        assert.equal(input["DelaySeconds"], seconds);
        assert.deepEqual(JSON.parse(String(input["MessageBody"])), { message: of("a"), id: "timer-1" });
      }),
    );
  }

  const refusals = [
    { error: "QueueDoesNotExist", reason: "QueueMissing", words: "no such queue" },
    { error: "AccessDenied", reason: "QueueForbidden", words: "allow sqs:SendMessage" },
    { error: "AccessDeniedException", reason: "QueueForbidden", words: "allow sqs:SendMessage" },
    { error: "UnrecognizedClientException", reason: "QueueForbidden", words: "credentials" },
    {
      error: "InvalidParameterValue",
      message: "The request include parameter MessageGroupId that is not valid for this queue type",
      reason: "QueueMismatch",
      words: "FIFO queue",
    },
    { error: "SomethingElse", message: "two\nlines", reason: "QueueUnreachable", words: "two" },
  ];
  for (const { reason, words, ...reply } of refusals) {
    test(
      `throws ${reply.error} as one line that names the queue and no message`,
      withQueue(
        () => reply,
        async (queue, fake) => {
          await assert.rejects(queue.send(of("secret-name"), "id"), (cause: Error & { reason?: string }) => {
            assert.equal(cause.reason, reason);
            assert.ok(
              cause.message.includes(words) && cause.message.includes(`${fake.url}/0/keys.fifo`),
              cause.message,
            );
            assert.ok(!cause.message.includes("\n") && !cause.message.includes("secret-name"), cause.message);
            return true;
          });
        },
      ),
    );
  }

  test(
    "sends again what SQS failed to take of a batch, and throws to the sender what SQS refused",
    withQueue(
      (asked, nth) => {
        if (nth > 1) return taken(asked);
        const [first, second, third] = entriesOf(asked);
        const Failed = [
          { Id: second?.["Id"], SenderFault: false, Code: "InternalError", Message: "try again" },
          { Id: third?.["Id"], SenderFault: true, Code: "AccessDenied", Message: "no" },
        ];
        const reply = taken({ ...asked, input: { Entries: [first] } });
        return reply !== "silence" && "body" in reply ? { body: { ...reply.body, Failed } } : reply;
      },
      async (queue, fake) => {
        const ends = await Promise.allSettled(["a", "b", "c"].map((name) => queue.send(of(name), name)));
        assert.deepEqual(
          ends.map(({ status }) => status),
          ["fulfilled", "fulfilled", "rejected"],
        );
        assert.equal(entriesOf(fake.asked[1])[0]?.["MessageDeduplicationId"], "b");
      },
    ),
  );
});
