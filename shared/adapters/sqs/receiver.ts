/** The receiving side of SQS: receive, acknowledge, give back. */
import type { ReceiveMessageCommandInput } from "@aws-sdk/client-sqs";
import type { Received, Receiver } from "../poller.ts";
import { openSqs, type Sqs } from "./client.ts";

type ReceiveOptions = {
  readonly queue: string;
  readonly visibilityMs: number;
  /** Messages of a batch. */
  readonly most?: number;
  readonly sqs?: Sqs;
};

const seconds = (ms: number): number => Math.ceil(ms / 1_000);

const entriesOf = (messages: readonly Received[]) =>
  messages.map(({ receipt }, at) => ({ Id: String(at), ReceiptHandle: receipt }));

const countIn = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

export const openReceiver = ({ queue, visibilityMs, most = 10, sqs = openSqs() }: ReceiveOptions): Receiver => ({
  receive: async (waitMs) => {
    const request = {
      QueueUrl: queue,
      MaxNumberOfMessages: most,
      WaitTimeSeconds: Math.min(20, seconds(waitMs)),
      VisibilityTimeout: seconds(visibilityMs),
      MessageSystemAttributeNames: ["ApproximateReceiveCount", "MessageGroupId", "SentTimestamp"],
    } satisfies ReceiveMessageCommandInput;
    const { Messages = [] } = await sqs(
      "ReceiveMessage",
      queue,
      ({ client, sdk }, limits) => client.send(new sdk.ReceiveMessageCommand(request), limits),
      { pollMs: waitMs },
    );
    return Messages.map(({ MessageId = "", ReceiptHandle = "", Body = "", Attributes = {} }) => ({
      id: MessageId,
      receipt: ReceiptHandle,
      group: Attributes.MessageGroupId,
      body: Body,
      received: countIn(Attributes.ApproximateReceiveCount) ?? 1,
      sentAt: countIn(Attributes.SentTimestamp),
    }));
  },
  acknowledge: async (messages) => {
    if (messages.length === 0) return;
    const Entries = entriesOf(messages);
    await sqs("DeleteMessage", queue, ({ client, sdk }, limits) =>
      client.send(new sdk.DeleteMessageBatchCommand({ QueueUrl: queue, Entries }), limits),
    );
  },
  giveBack: async (messages, delayMs) => {
    if (messages.length === 0) return;
    const VisibilityTimeout = seconds(delayMs);
    const Entries = entriesOf(messages).map((entry) => ({ ...entry, VisibilityTimeout }));
    await sqs("ChangeMessageVisibility", queue, ({ client, sdk }, limits) =>
      client.send(new sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl: queue, Entries }), limits),
    );
  },
});
