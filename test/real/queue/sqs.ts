/**
 * SQS behind the suite's counter: Rekindle's sender, receiver and wake function, on the server of AWS_ENDPOINT_URL_SQS.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Received } from "../../../shared/adapters/poller.ts";
import { openSqs } from "../../../shared/adapters/sqs/client.ts";
import { sqsQueue, sqsSender } from "../../../shared/adapters/sqs/queue.ts";
import { openReceiver } from "../../../shared/adapters/sqs/receiver.ts";
import { wake } from "../../../shared/deployments/wake/function.ts";
import { readMessage } from "../../../shared/engine/message.ts";
import { createQueues } from "../lambda/queues.ts";
import { type Counter, type Handed, maxReceives, messageOf, type Raw, visibilityMs } from "./counter.ts";

const handedOf = (received: readonly Received[]): readonly Handed[] =>
  received.map((one) => {
    const message = readMessage(one.body);
    if (message === undefined) throw new Error(`not a message of ours: ${one.body.slice(0, 200)}`);
    return { message, received: one.received, token: one };
  });

const isReceived = (token: unknown): token is Received =>
  typeof token === "object" && token !== null && "receipt" in token;

const tokens = (handed: readonly Handed[]): readonly Received[] => handed.map(({ token }) => token).filter(isReceived);

const textOf = async (refused: Promise<unknown>): Promise<string> =>
  refused.then(
    () => "it was taken",
    (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
  );

const rawOver = (fifo: string, delay: string): Raw => {
  const sqs = openSqs();
  const send = (more: object): Promise<unknown> =>
    sqs("SendMessage", fifo, ({ client, sdk }, limits) => {
      const fields = { QueueUrl: fifo, MessageBody: "{}", MessageGroupId: "g", MessageDeduplicationId: "d", ...more };
      return client.send(new sdk.SendMessageCommand(fields), limits);
    });
  return {
    sendDelayedToFifo: () => textOf(send({ DelaySeconds: 5 })),
    sendLarge: () => textOf(send({ MessageBody: "x".repeat(1_100_000) })),
    sendTo: (which) => {
      const url = which === "missing" ? fifo.replace(/[^/]*$/, "missing.fifo") : delay;
      return textOf(sqsSender(url, sqs)(messageOf("a", "1"), "id"));
    },
  };
};

/** Creates separate queues; `name` must be unused. */
export const openCounter = async (client: SQSClient, name: string): Promise<Counter> => {
  const settings = { visibilitySeconds: visibilityMs / 1_000, maxReceiveCount: maxReceives };
  const urls = await createQueues(client, name, settings);
  const queue = sqsQueue(urls);
  const fifo = openReceiver({ queue: urls.fifo, visibilityMs });
  const delayed = openReceiver({ queue: urls.delay, visibilityMs });
  const dead = openReceiver({ queue: urls.dead, visibilityMs });
  /** Does the work of the wake function for its due messages. */
  const relay = async (): Promise<void> => {
    for (let due = await delayed.receive(0); due.length > 0; due = await delayed.receive(0)) {
      const failed = await wake(queue.send, () => {}, due);
      await delayed.acknowledge(due.filter(({ id }) => !failed.includes(id)));
    }
  };
  return {
    ...queue,
    receive: async () => {
      await relay();
      return handedOf(await fifo.receive(0));
    },
    poll: async (waitMs) => handedOf(await fifo.receive(waitMs)),
    acknowledge: (handed) => fifo.acknowledge(tokens(handed)),
    giveBack: (handed, delayMs) => fifo.giveBack(tokens(handed), delayMs),
    pass: async (ms) => void (await sleep(ms)),
    dead: async () => handedOf(await dead.receive(0)).map(({ message }) => message.reason),
    raw: rawOver(urls.fifo, urls.delay),
  };
};
