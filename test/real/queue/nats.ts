/** NATS JetStream behind the suite's counter: Rekindle's sender and receiver, on a real server. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { openNats } from "../../../shared/adapters/nats/connection.ts";
import { openNatsReceiver } from "../../../shared/adapters/nats/receiver.ts";
import { namesOf, natsQueue, opening } from "../../../shared/adapters/nats/streams.ts";
import type { Received } from "../../../shared/adapters/poller.ts";
import { readMessage } from "../../../shared/engine/message.ts";
import { type Counter, type Handed, maxReceives, visibilityMs } from "./counter.ts";

const handedOf = (received: readonly Received[]): readonly Handed[] =>
  received.map((one) => {
    const message = readMessage(one.body);
    if (message === undefined) throw new Error(`not a message of ours: ${one.body.slice(0, 200)}`);
    return { message, received: one.received, token: one };
  });

const isReceived = (token: unknown): token is Received =>
  typeof token === "object" && token !== null && "receipt" in token;

const tokens = (handed: readonly Handed[]): readonly Received[] => handed.map(({ token }) => token).filter(isReceived);

const streamShape = z.object({
  state: z.object({ first_seq: z.number(), last_seq: z.number(), messages: z.number() }),
});
const messageShape = z.object({ message: z.object({ data: z.string() }) });

export type NatsCounter = Counter & { readonly close: () => Promise<void> };

type Opening = {
  readonly credentials?: () => Promise<string>;
  /** The visibility timeout; absent: the suite's. */
  readonly lockMs?: number;
  /** The time that a worker extends it to; absent: it does not. */
  readonly longestMs?: number;
};

/** Opens both sides of a queue; the number of deliveries is that of the suite. */
export const openNatsWorker = async (
  url: string,
  name: string,
  { credentials, lockMs = visibilityMs, longestMs = lockMs }: Opening = {},
) => {
  const nats = openNats({ servers: [url], name: "suite", credentials });
  const names = namesOf(name);
  const open = opening(nats, names, lockMs);
  await open().catch(async (cause: unknown) => {
    await nats.close();
    throw cause;
  });
  const receiver = openNatsReceiver({
    nats,
    names,
    open,
    visibilityMs: lockMs,
    longestMs,
    most: 10,
    maxReceives,
    report: () => {},
  });
  return { nats, names, receiver, queue: natsQueue({ nats, names, open }) };
};

/** Opens a queue of its own; `name` must be unused. */
export const openNatsCounter = async (url: string, name: string, lockMs = visibilityMs): Promise<NatsCounter> => {
  const { nats, names, receiver, queue } = await openNatsWorker(url, name, { lockMs });
  const dead = async (): Promise<readonly string[]> => {
    const { state } = streamShape.parse(await nats.ask(`$JS.API.STREAM.INFO.${names.dead}`));
    const numbers = Array.from({ length: state.messages }, (_, at) => state.first_seq + at);
    return await Promise.all(
      numbers.map(async (seq) => {
        const { message } = messageShape.parse(await nats.ask(`$JS.API.STREAM.MSG.GET.${names.dead}`, { seq }));
        return readMessage(Buffer.from(message.data, "base64").toString())?.reason ?? "";
      }),
    );
  };
  return {
    ...queue,
    receive: async () => handedOf(await receiver.receive(0)),
    poll: async (waitMs) => handedOf(await receiver.receive(waitMs)),
    acknowledge: (handed) => receiver.acknowledge(tokens(handed)),
    giveBack: (handed, delayMs) => receiver.giveBack(tokens(handed), delayMs),
    pass: async (ms) => void (await sleep(ms)),
    dead,
    close: async () => {
      await receiver.close?.();
      await nats.close();
    },
  };
};

const consumerShape = z.object({
  num_pending: z.number(),
  num_ack_pending: z.number(),
  delivered: z.object({ consumer_seq: z.number() }),
});

export type Progress = {
  /** The lag, as KEDA calls it: messages that wait, and those that workers hold or work on. */
  readonly lag: number;
  /** Messages that workers were given. */
  readonly given: number;
};

/** Returns how far the workers of a queue are. */
export const progressOn =
  (url: string) =>
  async (queue: string): Promise<Progress> => {
    const nats = openNats({ servers: [url], name: "suite" });
    try {
      const found = consumerShape.parse(await nats.ask(`$JS.API.CONSUMER.INFO.${queue}.steps`));
      return { lag: found.num_pending + found.num_ack_pending, given: found.delivered.consumer_seq };
    } finally {
      await nats.close();
    }
  };
