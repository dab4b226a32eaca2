/** The two queues of a deployment on NATS: one for steps, one for deliveries of status updates; over one connection. */
import type { Queue, Report } from "../../engine/ports.ts";
import type { Receiver } from "../sqs/receiver.ts";
import { type NatsAddress, openNats } from "./connection.ts";
import { natsQueue, opening } from "./queue.ts";
import { openNatsReceiver } from "./receiver.ts";
import { type Depth, depthOf, namesOf } from "./streams.ts";

/** The time after which the messages of a dead worker come again. A living worker extends it three times as often. */
const visibilityMs = 15_000;
/** The longest time that a step keeps its messages: the visibility timeout of the queues of AWS. */
const longestMs = 90_000;
/** Deliveries of a message before it is put aside; functions give up its key long before. The next resync sends it. */
const maxReceives = 10;

type NatsQueue = {
  readonly queue: Queue;
  /** Opens the receiving side: at most so many messages in a batch. */
  readonly receiver: (most: number) => Receiver;
  readonly depth: () => Promise<Depth>;
};

export type NatsQueues = {
  readonly steps: NatsQueue;
  readonly deliveries: NatsQueue;
  readonly close: () => Promise<void>;
};

type Options = { readonly address: NatsAddress; readonly prefix: string; readonly report: Report };

/** Opens the queues. Nothing is connected before the first use. */
export const openNatsQueues = ({ address, prefix, report }: Options): NatsQueues => {
  const nats = openNats(address);
  const queueOf = (what: "keys" | "updates"): NatsQueue => {
    const names = namesOf(`${prefix}-${what}`);
    const open = opening(nats, names, visibilityMs);
    return {
      queue: natsQueue({ nats, names, open }),
      receiver: (most) => openNatsReceiver({ nats, names, open, visibilityMs, longestMs, most, maxReceives, report }),
      depth: async () => {
        await open();
        return await depthOf(nats, names);
      },
    };
  };
  return { steps: queueOf("keys"), deliveries: queueOf("updates"), close: nats.close };
};
