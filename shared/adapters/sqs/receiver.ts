/** The receiving side of SQS, for deployments that poll: receive, acknowledge, give back. */
import * as z from "zod";
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
  /** The time at which the queue took the message, epoch ms; undefined where the queue does not say it. */
  readonly sentAt: number | undefined;
};

export type Receiver = {
  /** Returns at most one batch; waits up to `waitMs` for its first message. */
  receive(waitMs: number): Promise<readonly Received[]>;
  /** Removes the messages. An expired receipt does no harm. */
  acknowledge(messages: readonly Received[]): Promise<void>;
  /** Returns the messages after `delayMs`; their groups stay locked until then. */
  giveBack(messages: readonly Received[], delayMs: number): Promise<void>;
  /** Ends polls, and returns messages that wait in this process. Absent: none do. */
  close?(): Promise<void>;
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

const receivedShape = () =>
  z.object({
    Messages: z
      .array(
        z.object({
          MessageId: z.string(),
          ReceiptHandle: z.string(),
          Body: z.string().default(""),
          Attributes: z
            .object({
              MessageGroupId: z.string().optional(),
              ApproximateReceiveCount: z.coerce.number().default(1),
              SentTimestamp: z.coerce.number().optional(),
            })
            .default({ ApproximateReceiveCount: 1 }),
        }),
      )
      .nullish(),
  });

export const openReceiver = ({ queue, visibilityMs, most = 10, sqs = openSqs() }: Options): Receiver => {
  const shape = receivedShape();
  return {
    receive: async (waitMs) => {
      const ask = {
        MaxNumberOfMessages: most,
        WaitTimeSeconds: Math.min(20, seconds(waitMs)),
        VisibilityTimeout: seconds(visibilityMs),
        MessageSystemAttributeNames: ["ApproximateReceiveCount", "MessageGroupId", "SentTimestamp"],
      };
      const { Messages } = shape.parse(await sqs("ReceiveMessage", queue, ask, { pollMs: waitMs }));
      return (Messages ?? []).map(({ MessageId, ReceiptHandle, Body, Attributes }) => ({
        id: MessageId,
        receipt: ReceiptHandle,
        group: Attributes.MessageGroupId,
        body: Body,
        received: Attributes.ApproximateReceiveCount,
        sentAt: Attributes.SentTimestamp,
      }));
    },
    acknowledge: async (messages) => {
      if (messages.length > 0) await sqs("DeleteMessageBatch", queue, { Entries: entriesOf(messages) });
    },
    giveBack: async (messages, delayMs) => {
      if (messages.length === 0) return;
      const VisibilityTimeout = seconds(delayMs);
      const Entries = entriesOf(messages).map((entry) => ({ ...entry, VisibilityTimeout }));
      await sqs("ChangeMessageVisibilityBatch", queue, { Entries });
    },
  };
};
