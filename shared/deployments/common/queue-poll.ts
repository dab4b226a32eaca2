/** How functions that run as processes poll their queue: the batches, the waits, and the receiving side. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Receiver } from "../../adapters/poller.ts";
import { openReceiver } from "../../adapters/sqs/receiver.ts";

/** The visibility timeout, as `infra/` sets it for the queues of the functions. */
export const visibilityMs = 90_000;
export const againMs = 5_000;
export const graceMs = 25_000;
/** The most messages that SQS hands out at once. */
const batch = 10;

/** Returns the batches at once and the messages per batch: together at most `concurrency` keys in work. */
export const batchesFor = (concurrency: number): { readonly parallel: number; readonly most: number } => {
  const parallel = Math.ceil(concurrency / batch);
  return { parallel, most: Math.floor(concurrency / parallel) };
};

type Polled = {
  /** The queue of SQS. */
  readonly queue: string | undefined;
  readonly nats: ((most: number) => Promise<Receiver>) | undefined;
  readonly most: number;
};

/** Opens the receiving side of a queue on NATS, else on SQS. */
export const receiverOf = async ({ queue, nats, most }: Polled): Promise<Receiver> => {
  if (nats !== undefined) return await nats(most);
  if (queue === undefined) throw new Error("there is no queue to poll");
  return openReceiver({ queue, visibilityMs, most });
};

export const pause = async (ms: number): Promise<void> => void (await sleep(ms));
