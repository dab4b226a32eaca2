/**
 * Sends keys to NATS where its servers are set, else to SQS: those of steps to one FIFO queue, those of deliveries to
 * another, where there is one. The adapter is loaded with the first message.
 */
import type { Telemetry } from "../../adapters/telemetry/tracing.ts";
import type { Queue } from "../../engine/ports.ts";
import type { Settings } from "../settings/read.ts";
import { natsFor, openedByUse } from "./nats.ts";
import { once } from "./once.ts";
import { apart } from "./separate-queues.ts";

type Queues = {
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
  updatesUrl === undefined ? steps : apart(steps, { send: untimed(updatesUrl).send });

/** Opens sending of keys to SQS, without timers. */
export const sendingTo = (
  { fifoUrl, updatesUrl }: Omit<Queues, "delayUrl">,
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
export const queueOn = ({ fifoUrl, delayUrl, updatesUrl }: Queues, telemetry: Pick<Telemetry, "queue">): Queue =>
  telemetry.queue(withDeliveries(timed(fifoUrl, delayUrl), updatesUrl));
