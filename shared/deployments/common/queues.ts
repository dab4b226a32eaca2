/**
 * The queues of a function. Keys are sent to NATS where its servers are set, else to SQS: those of steps to one FIFO
 * queue, those of deliveries to another, where there is one. The adapter is loaded with the first
 * message. A function without a queue is called by a dispatcher, which gets the messages in the answer.
 */

import { type Carrier, openCarrier } from "../../adapters/dispatch/carrier.ts";
import type { NatsQueues } from "../../adapters/nats/receiver.ts";
import type { Receiver } from "../../adapters/poller.ts";
import type { Telemetry } from "../../adapters/telemetry/tracing.ts";
import { type Key, subjectOf } from "../../core/key.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import type { Settings } from "../settings/read.ts";
import { once } from "./once.ts";
import { openOptional } from "./secret.ts";

/**
 * Routes each message: deliveries go to their own queue, so that no step waits behind a listener that does not answer.
 */
export const withDeliveryQueue = (steps: Queue, deliveries: Pick<Queue, "send"> & Partial<Queue>): Queue => {
  const isDelivery = (message: Key): boolean => subjectOf(message) !== undefined;
  return {
    send: (message, id) => (isDelivery(message) ? deliveries : steps).send(message, id),
    sendLater: (message, id, delayMs) =>
      ((isDelivery(message) ? deliveries.sendLater : undefined) ?? steps.sendLater)(message, id, delayMs),
  };
};

type OfNats = Pick<Settings<"reconcile">, "natsUrl" | "natsCredentials" | "natsCaFile" | "natsPrefix">;

export type LazyNats = {
  /** Sends keys of steps to one queue and deliveries to the other. */
  readonly queue: Queue;
  readonly steps: (most: number) => Promise<Receiver>;
  readonly deliveries: (most: number) => Promise<Receiver>;
  /** Messages and timers in the queue of steps. */
  readonly depth: () => Promise<{ readonly ready: number; readonly delayed: number }>;
  /** Closes the connection, which keeps a process alive. */
  readonly close: () => Promise<void>;
};

/** Returns a queue that is opened by the first message. */
const openedByUse = (open: () => Promise<Queue>): Queue => ({
  send: async (...sent) => await (await open()).send(...sent),
  sendLater: async (...sent) => await (await open()).sendLater(...sent),
});

/** Returns the queues; undefined where no servers are set. */
export const natsFor = (
  { natsUrl, natsCredentials, natsCaFile: caFile, natsPrefix: prefix }: OfNats,
  report: Report,
): LazyNats | undefined => {
  if (natsUrl === undefined) return undefined;
  const credentials = openOptional(natsCredentials, { report, setting: "natsCredentials" });
  const address = { servers: natsUrl, name: "rekindle", caFile, credentials };
  let isOpen = false;
  const queues = once(async (): Promise<NatsQueues> => {
    isOpen = true;
    const { openNatsQueues } = await import("../../adapters/nats/receiver.ts");
    return openNatsQueues({ address, prefix, report });
  });
  return {
    queue: withDeliveryQueue(
      openedByUse(async () => (await queues()).steps.queue),
      openedByUse(async () => (await queues()).deliveries.queue),
    ),
    steps: async (most) => (await queues()).steps.receiver(most),
    deliveries: async (most) => (await queues()).deliveries.receiver(most),
    depth: async () => await (await queues()).steps.depth(),
    close: async () => {
      if (isOpen) await (await queues()).close();
    },
  };
};

type SqsUrls = {
  readonly fifoUrl: string;
  readonly delayUrl: string;
  /** The queue of deliveries; absent: status updates are off. */
  readonly updatesUrl?: string | undefined;
};

export type Sender = {
  readonly send: Queue["send"];
  readonly close: () => Promise<void>;
};

/** The queue of an URL without timers. */
const untimed = (url: string): Queue =>
  openedByUse(
    once(async () => {
      const send = (await import("../../adapters/sqs/queue.ts")).sqsSender(url);
      return { send, sendLater: send };
    }),
  );

const timed = (fifo: string, delay: string): Queue =>
  openedByUse(once(async () => (await import("../../adapters/sqs/queue.ts")).sqsQueue({ fifo, delay })));

/** Timers of deliveries go to the delay queue of steps. */
const withDeliveries = (steps: Queue, updatesUrl: string | undefined): Queue =>
  updatesUrl === undefined ? steps : withDeliveryQueue(steps, { send: untimed(updatesUrl).send });

/** Opens sending of keys to SQS, without timers. */
export const sendingTo = (
  { fifoUrl, updatesUrl }: Omit<SqsUrls, "delayUrl">,
  telemetry: Pick<Telemetry, "queue">,
): Queue["send"] => telemetry.queue(withDeliveries(untimed(fifoUrl), updatesUrl)).send;

type Wanted = Pick<Settings<"forward">, "natsUrl" | "natsCredentials" | "natsCaFile" | "natsPrefix" | "fifoUrl"> & {
  readonly updatesUrl?: string | undefined;
};

/** Opens sending without timers to the queue of the settings. */
export const openSender = (settings: Wanted, telemetry: Pick<Telemetry, "queue" | "report">): Sender => {
  const { fifoUrl, updatesUrl } = settings;
  const nats = natsFor(settings, telemetry.report);
  if (nats !== undefined) return { send: telemetry.queue(nats.queue).send, close: nats.close };
  if (fifoUrl === undefined) throw new Error("set REKINDLE_FIFO_URL, or REKINDLE_NATS_URL");
  return { send: sendingTo({ fifoUrl, updatesUrl }, telemetry), close: async () => {} };
};

/** Opens sending to SQS with timers. */
const queueOn = ({ fifoUrl, delayUrl, updatesUrl }: SqsUrls, telemetry: Pick<Telemetry, "queue">): Queue =>
  telemetry.queue(withDeliveries(timed(fifoUrl, delayUrl), updatesUrl));

type QueueSettings = OfNats &
  Pick<Settings<"reconcile">, "fifoUrl" | "delayUrl"> & { readonly updatesUrl?: string | undefined };

export type FunctionQueue = Carrier & {
  /** True: a dispatcher calls the function, and there is no queue to poll. */
  readonly called: boolean;
  /** The queues of NATS; absent: the function has none there. */
  readonly nats: LazyNats | undefined;
};

/** The refusal of a platform that invokes a function whose queue is on NATS. */
export const pollsNats = "unset REKINDLE_NATS_URL: only a process polls NATS, and a function that is invoked does not";

const nothing = async <T>(work: () => Promise<T>) => ({ value: await work(), carried: [] });

/** Opens the queue. Throws where only a part of the queues' URLs is set. */
export const openFunctionQueue = (settings: QueueSettings, telemetry: Telemetry): FunctionQueue => {
  const { fifoUrl, delayUrl, updatesUrl } = settings;
  const nats = natsFor(settings, telemetry.report);
  if (nats !== undefined) return { queue: telemetry.queue(nats.queue), during: nothing, called: false, nats };
  if (fifoUrl !== undefined && delayUrl !== undefined)
    return { queue: queueOn({ fifoUrl, delayUrl, updatesUrl }, telemetry), during: nothing, called: false, nats };
  if (fifoUrl !== undefined || delayUrl !== undefined || updatesUrl !== undefined)
    throw new Error("set both REKINDLE_FIFO_URL and REKINDLE_DELAY_URL, or no queue for calls of a dispatcher");
  const carrier = openCarrier();
  return { queue: telemetry.queue(carrier.queue), during: carrier.during, called: true, nats };
};
