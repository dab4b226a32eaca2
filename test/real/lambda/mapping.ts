/**
 * The event source mapping of a queue: it polls the queue, passes batches to a function, and deletes the processed
 * messages.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { arnOf } from "./definition.ts";
import { doneOf } from "./partial.ts";
import type { Lambda } from "./pool.ts";

export type MappingSettings = {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly lambda: Lambda;
  /** At most 10 for a FIFO queue. */
  readonly batchSize: number;
  /** MaximumConcurrency: the largest number of parallel batches. */
  readonly concurrency: number;
  /** ReportBatchItemFailures; if false, any answer of the function is success. */
  readonly partial?: boolean;
  /** Duration of one long poll. */
  readonly waitSeconds: number;
};

export type Counts = {
  /** Polls with and without messages. */
  readonly full: number;
  readonly empty: number;
  readonly deletes: number;
  readonly delivered: number;
  readonly deleted: number;
};

export type Mapping = {
  counts(): Counts;
  /** True while the function processes a batch. */
  isBusy(): boolean;
  stop(): Promise<void>;
};

type Tally = { -readonly [Count in keyof Counts]: Counts[Count] };

const recordOf = (queueUrl: string, message: Message): object => ({
  messageId: message.MessageId,
  receiptHandle: message.ReceiptHandle,
  body: message.Body,
  attributes: message.Attributes ?? {},
  messageAttributes: {},
  md5OfBody: message.MD5OfBody,
  eventSource: "aws:sqs",
  eventSourceARN: arnOf("sqs", queueUrl.split("/").at(-1) ?? ""),
  awsRegion: "eu-west-1",
});

/**
 * Delivers one batch and deletes its processed messages. The other messages return when their visibility timeout is
 * over, and not before.
 */
const deliver = async (settings: MappingSettings, messages: readonly Message[], tally: Tally): Promise<void> => {
  const { client, queueUrl, lambda, partial = true } = settings;
  tally.delivered += messages.length;
  const outcome = await lambda.invoke({ Records: messages.map((message) => recordOf(queueUrl, message)) });
  if (outcome.ended !== "answered") return;
  const ids = messages.map((message) => message.MessageId ?? "");
  const done = partial ? doneOf(outcome.body, ids) : ids;
  const Entries = messages
    .filter((message) => done.includes(message.MessageId ?? ""))
    .map((message, index) => ({ Id: String(index), ReceiptHandle: message.ReceiptHandle }));
  if (Entries.length === 0) return;
  tally.deletes += 1;
  tally.deleted += Entries.length;
  await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
};

const receive = async (settings: MappingSettings, signal: AbortSignal): Promise<readonly Message[]> => {
  const { Messages } = await settings.client.send(
    new ReceiveMessageCommand({
      QueueUrl: settings.queueUrl,
      MaxNumberOfMessages: settings.batchSize,
      WaitTimeSeconds: settings.waitSeconds,
      MessageSystemAttributeNames: ["All"],
    }),
    { abortSignal: signal },
  );
  return Messages ?? [];
};

export const startMapping = (settings: MappingSettings): Mapping => {
  const stopping = new AbortController();
  const tally: Tally = { full: 0, empty: 0, deletes: 0, delivered: 0, deleted: 0 };
  let busy = 0;
  const round = async (): Promise<void> => {
    const messages = await receive(settings, stopping.signal);
    if (messages.length === 0) {
      tally.empty += 1;
      return;
    }
    tally.full += 1;
    busy += 1;
    try {
      await deliver(settings, messages, tally);
    } finally {
      busy -= 1;
    }
  };
  const poller = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // A queue in trouble is polled again; the messages in hand return by themselves.
      await round().catch(() => sleep(200));
    }
  };
  const pollers = Array.from({ length: settings.concurrency }, poller);
  return {
    counts: () => ({ ...tally }),
    isBusy: () => busy > 0,
    stop: async () => {
      stopping.abort();
      await Promise.all(pollers);
    },
  };
};
