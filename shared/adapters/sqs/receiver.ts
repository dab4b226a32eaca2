/**
 * The receiving side of SQS, for deployments that poll: receive, acknowledge, give back. A limited number of
 * deliveries runs at once, group by group, so a slow group does not delay the others.
 */
import type { ReceiveMessageCommandInput } from "@aws-sdk/client-sqs";
import { backoffOf } from "../../core/time.ts";
import type { Report } from "../../engine/ports.ts";
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

export type Poller = {
  /** Receives no new messages, and resolves when those in hand are done or `graceMs` has passed. */
  stop(graceMs: number): Promise<void>;
};

type PollOptions = {
  readonly receiver: Receiver;
  /** Takes messages of one group (of a standard queue: all of a batch); returns the ids of those to deliver again. */
  readonly take: (messages: readonly Received[]) => Promise<readonly string[]>;
  /** Batches in hand at once. */
  readonly parallel: number;
  /** The wait before a failed message is delivered again, ms. */
  readonly againMs: number;
  readonly report: Report;
  readonly pause: (ms: number) => Promise<void>;
};

const pollMs = 20_000;
const longestWaitMs = 30_000;

const byGroup = (messages: readonly Received[]): readonly (readonly Received[])[] => {
  const groups = new Map<string, Received[]>();
  for (const message of messages) {
    const name = message.group ?? "";
    groups.set(name, [...(groups.get(name) ?? []), message]);
  }
  return [...groups.values()];
};

/** Takes the messages of one group, then acknowledges them or gives them back at once. */
const settle = async (
  { receiver, take, againMs, report }: PollOptions,
  messages: readonly Received[],
): Promise<void> => {
  const failed = new Set(await take(messages).catch(() => messages.map(({ id }) => id)));
  try {
    await receiver.acknowledge(messages.filter(({ id }) => !failed.has(id)));
    await receiver.giveBack(
      messages.filter(({ id }) => failed.has(id)),
      againMs,
    );
  } catch (cause) {
    // The messages return when their visibility timeout ends, and their steps then find nothing to do.
    report("warn", "messages could not be acknowledged", { error: String(cause), messages: messages.length });
  }
};

/** Polls until it is stopped; a queue that cannot be reached is retried with growing waits. */
export const startPoller = (options: PollOptions): Poller => {
  const { receiver, report, pause, parallel } = options;
  let stopping = false;
  const loop = async (): Promise<void> => {
    for (let failures = 0; !stopping; ) {
      try {
        const messages = await receiver.receive(pollMs);
        failures = 0;
        await Promise.all(byGroup(messages).map((group) => settle(options, group)));
      } catch (cause) {
        if (stopping) return;
        const waitMs = backoffOf(failures, 500, longestWaitMs);
        failures += 1;
        report("warn", "the queue cannot be read, trying again", { error: String(cause), waitMs });
        await pause(waitMs);
      }
    }
  };
  const loops = Promise.all(Array.from({ length: parallel }, loop));
  return {
    stop: async (graceMs) => {
      stopping = true;
      await receiver.close?.();
      const grace = new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([loops, grace]);
    },
  };
};
