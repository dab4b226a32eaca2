/**
 * The queues of a host, inside the process or on NATS, and the workers that take from them. Steps and deliveries have
 * separate queues, so that no step waits behind a listener that does not answer.
 */
import { openQueue } from "../../adapters/embedded/queue.ts";
import { allOrNone, startWorkers, type Workers } from "../../adapters/embedded/workers.ts";
import { type Received, type Receiver, startPoller } from "../../adapters/poller.ts";
import type { Message } from "../../core/key.ts";
import { isNewer, readMessage } from "../../engine/message.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import { batchesFor, pause } from "../common/queue-poll.ts";
import { type LazyNats, withDeliveryQueue } from "../common/queues.ts";

/** Returns the number of keys that the queue takes from a namespace in one turn. */
export type WeightOf = (namespace: string) => number;

/** Deliveries at once; each takes two seconds at most. */
const deliveriesAtOnce = 8;

/** The wait before a failed step or delivery is taken again, ms. */
const againMs = 1_000;

type Take = (messages: readonly Message[]) => Promise<boolean>;

export type HostQueues = {
  /** Takes steps and deliveries. */
  readonly queue: Queue;
  /** Messages and timers in the queue of steps. */
  readonly depth: LazyNats["depth"];
  /** Starts the workers. `parallel`: steps at once. */
  start(take: Take, parallel: number): Workers;
};

/** Monotonic, ms: a wall clock that is set back would keep keys locked, and timers waiting, for that time. */
const now = (): number => performance.now();

/** Opens the queues. `timed` wraps the queue of steps for its senders. */
export const openHostQueues = (
  visibilityMs: number,
  timed: (queue: Queue) => Queue,
  weightOf?: WeightOf,
): HostQueues => {
  const steps = openQueue({ now, visibilityMs, weightOf });
  const deliveries = openQueue({ now, visibilityMs, weightOf });
  return {
    queue: withDeliveryQueue(timed(steps), deliveries),
    depth: async () => steps.depth(),
    start: (take, parallel) => {
      const common = { take: allOrNone(take, againMs), againMs, now };
      const workers = startWorkers({ ...common, queue: steps, parallel });
      const postmen = startWorkers({ ...common, queue: deliveries, parallel: deliveriesAtOnce });
      return {
        busy: workers.busy,
        stop: async (graceMs) => void (await Promise.all([workers.stop(graceMs), postmen.stop(graceMs)])),
      };
    },
  };
};

/** Takes messages of one group; returns those that must come again. A message of a newer version is left to it. */
const taking =
  (take: Take, report: Report) =>
  async (received: readonly Received[]): Promise<readonly string[]> => {
    const newer = received.filter(({ body }) => isNewer(body));
    const ours = received.filter((one) => !newer.includes(one));
    const messages = ours.flatMap(({ body }) => readMessage(body) ?? []);
    if (messages.length < ours.length) report("error", "dropped messages that are not Rekindle's");
    const isDone = messages.length === 0 || (await take(messages));
    return [...newer, ...(isDone ? [] : ours)].map(({ id }) => id);
  };

/** Receives by a receiver that is opened when the first message is asked for. */
const opened = (open: () => Promise<Receiver>): Receiver => {
  let receiver: Promise<Receiver> | undefined;
  const get = (): Promise<Receiver> => {
    receiver ??= open();
    return receiver;
  };
  return {
    receive: async (waitMs) => await (await get()).receive(waitMs),
    acknowledge: async (messages) => await (await get()).acknowledge(messages),
    giveBack: async (messages, delayMs) => await (await get()).giveBack(messages, delayMs),
    close: async () => await (await get()).close?.(),
  };
};

/** Opens the queues on NATS in their place: several hosts may take messages there. */
export const openNatsHostQueues = (nats: LazyNats, report: Report): HostQueues => ({
  queue: nats.queue,
  depth: nats.depth,
  start: (take, parallel) => {
    let busy = 0;
    const counted: Take = async (messages) => {
      busy += 1;
      try {
        return await take(messages);
      } finally {
        busy -= 1;
      }
    };
    const pollersOf = (open: () => Promise<Receiver>, atOnce: number) =>
      startPoller({
        ...{ receiver: opened(open), take: taking(counted, report), parallel: atOnce, againMs, report, pause },
      });
    const { parallel: loops, most } = batchesFor(parallel);
    const pollers = [pollersOf(() => nats.steps(most), loops), pollersOf(() => nats.deliveries(deliveriesAtOnce), 1)];
    return {
      busy: () => busy,
      stop: async (graceMs) => {
        await Promise.all(pollers.map((one) => one.stop(graceMs)));
        await nats.close();
      },
    };
  },
});
