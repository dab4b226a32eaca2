/** The receiving side of SQS, for deployments that poll: receive, acknowledge, give back. */
import { openSqs, type Sqs } from "./client.ts";

/** One delivery of a message. */
export type Received = {
  readonly id: string;
  readonly receipt: string;
  /** Undefined on a standard queue. */
  readonly group: string | undefined;
  readonly body: string;
  /** The number of deliveries of the message, this one included. */
  readonly received: number;
};

export type Receiver = {
  /** Returns at most one batch; waits up to `waitMs` for its first message. */
  receive(waitMs: number): Promise<readonly Received[]>;
  /** Removes the messages. An expired receipt does no harm. */
  acknowledge(messages: readonly Received[]): Promise<void>;
  /** Returns the messages after `delayMs`; their groups stay locked until then. */
  giveBack(messages: readonly Received[], delayMs: number): Promise<void>;
};

type Options = {
  readonly queue: string;
  readonly visibilityMs: number;
  /** Messages of a batch. */
  readonly most?: number;
  readonly sqs?: Sqs;
};

const seconds = (ms: number): number => Math.ceil(ms / 1_000);

const entriesOf = (messages: readonly Received[]) =>
  messages.map(({ receipt }, at) => ({ Id: String(at), ReceiptHandle: receipt }));

export const openReceiver = ({ queue, visibilityMs, most = 10, sqs = openSqs() }: Options): Receiver => ({
  receive: (waitMs) =>
    sqs(
      "ReceiveMessage",
      queue,
      async ({ client, sdk }, patience) => {
        const command = new sdk.ReceiveMessageCommand({
          QueueUrl: queue,
          MaxNumberOfMessages: most,
          WaitTimeSeconds: Math.min(20, seconds(waitMs)),
          VisibilityTimeout: seconds(visibilityMs),
          MessageSystemAttributeNames: ["ApproximateReceiveCount", "MessageGroupId"],
        });
        const { Messages = [] } = await client.send(command, patience);
        return Messages.map(({ MessageId = "", ReceiptHandle = "", Body = "", Attributes = {} }) => ({
          id: MessageId,
          receipt: ReceiptHandle,
          group: Attributes.MessageGroupId,
          body: Body,
          received: Number(Attributes.ApproximateReceiveCount ?? "1"),
        }));
      },
      waitMs,
    ),
  acknowledge: async (messages) => {
    if (messages.length === 0) return;
    await sqs("DeleteMessage", queue, async ({ client, sdk }, patience) => {
      const command = new sdk.DeleteMessageBatchCommand({ QueueUrl: queue, Entries: entriesOf(messages) });
      await client.send(command, patience);
    });
  },
  giveBack: async (messages, delayMs) => {
    if (messages.length === 0) return;
    await sqs("ChangeMessageVisibility", queue, async ({ client, sdk }, patience) => {
      const VisibilityTimeout = seconds(delayMs);
      const Entries = entriesOf(messages).map((entry) => ({ ...entry, VisibilityTimeout }));
      await client.send(new sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl: queue, Entries }), patience);
    });
  },
});
