/** The receiver: its requests to SQS, and its parsing of the answers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Received } from "../../../../shared/adapters/poller.ts";
import { openReceiver } from "../../../../shared/adapters/sqs/receiver.ts";
import { type Asked, digestOf, openFake, type Reply } from "./fake.ts";

const received: Received = { id: "1", receipt: "r-1", group: "g", body: "{}", received: 1, sentAt: undefined };

const withReceiver = async (
  reply: Reply,
  act: (receiver: ReturnType<typeof openReceiver>, asked: readonly Asked[]) => Promise<void>,
): Promise<void> => {
  const fake = await openFake(() => reply);
  try {
    await act(openReceiver({ queue: `${fake.url}/0/keys.fifo`, visibilityMs: 90_000 }), fake.asked);
  } finally {
    fake.close();
  }
};

describe("a receiver", () => {
  test("requests ten messages with a long poll, and reads group, count and time of sending", async () => {
    const Attributes = { ApproximateReceiveCount: "3", MessageGroupId: "g", SentTimestamp: "1700000000000" };
    const Messages = [{ MessageId: "1", ReceiptHandle: "r-1", Body: "{}", MD5OfBody: digestOf("{}"), Attributes }];
    await withReceiver({ body: { Messages } }, async (receiver, asked) => {
      assert.deepEqual(await receiver.receive(30_000), [{ ...received, received: 3, sentAt: 1_700_000_000_000 }]);
      const { MaxNumberOfMessages, WaitTimeSeconds, VisibilityTimeout } = asked[0]?.input ?? {};
      assert.deepEqual([MaxNumberOfMessages, WaitTimeSeconds, VisibilityTimeout], [10, 20, 90]);
    });
  });

  test("acknowledges in one request and gives back in one request, and sends none for an empty list", async () => {
    await withReceiver({ body: { Successful: [], Failed: [] } }, async (receiver, asked) => {
      await receiver.acknowledge([]);
      await receiver.giveBack([], 5_000);
      await receiver.acknowledge([received]);
      await receiver.giveBack([received], 1_500);
      assert.deepEqual(
        asked.map(({ action, input }) => [action, input["Entries"]]),
        [
          ["DeleteMessageBatch", [{ Id: "0", ReceiptHandle: "r-1" }]],
          ["ChangeMessageVisibilityBatch", [{ Id: "0", ReceiptHandle: "r-1", VisibilityTimeout: 2 }]],
        ],
      );
    });
  });

  test("throws an error that names the queue and the missing right", async () => {
    await withReceiver({ error: "AccessDenied" }, async (receiver) => {
      await assert.rejects(receiver.receive(0), /SQS ReceiveMessage .*keys\.fifo: .*allow sqs:ReceiveMessage/);
    });
  });
});
