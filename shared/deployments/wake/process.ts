/** The wake function as a process, and the polling parameters of all functions that run as processes. */
import { setTimeout as sleep } from "node:timers/promises";
import { openReceiver, type Receiver, startPoller } from "../../adapters/sqs/receiver.ts";
import { openLines } from "../../adapters/telemetry/tracing.ts";
import { sendingTo } from "../common/queues.ts";
import { stopped } from "../http/server.ts";
import { type Environment, settingsFor } from "../settings/read.ts";
import { wake } from "./function.ts";

/** The visibility timeout, as `infra/` sets it for the queues of the functions. */
const visibilityMs = 90_000;
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

/** Moves due timers from the delay queue to the FIFO queue. */
export const pollTimers = async (env: Environment): Promise<void> => {
  const settings = settingsFor("wake", env);
  const { delayUrl } = settings;
  if (delayUrl === undefined) throw new Error("set the function's environment: REKINDLE_DELAY_URL (is missing)");
  const telemetry = openLines(settings);
  const { report } = telemetry;
  const send = sendingTo(settings, telemetry);
  const receiver = openReceiver({ queue: delayUrl, visibilityMs });
  const take = (messages: Parameters<typeof wake>[2]): Promise<readonly string[]> => wake(send, report, messages);
  const poller = startPoller({ receiver, take, parallel: 1, againMs, report, pause });
  report("info", "wake: polling", { queue: delayUrl });
  await stopped();
  await poller.stop(graceMs);
};
