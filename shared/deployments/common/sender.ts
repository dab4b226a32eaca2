/**
 * Sends keys to NATS where its servers are set, else to SQS: those of steps to one FIFO queue, those of deliveries to
 * another, where there is one.
 */
import { sqsQueue, sqsSender } from "../../adapters/sqs/queue.ts";
import type { Telemetry } from "../../adapters/telemetry/tracing.ts";
import type { Queue } from "../../engine/ports.ts";
import type { Settings } from "../settings/read.ts";
import { natsFor } from "./nats.ts";
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

const onSqs = ({ fifoUrl, updatesUrl }: Omit<Queues, "delayUrl">): Queue => {
  const send = sqsSender(fifoUrl);
  const steps = { send, sendLater: send };
  return updatesUrl === undefined ? steps : apart(steps, { send: sqsSender(updatesUrl) });
};

/** Opens sending of keys to SQS, without timers. */
export const sendingTo = (queues: Omit<Queues, "delayUrl">, telemetry: Pick<Telemetry, "queue">): Queue["send"] =>
  telemetry.queue(onSqs(queues)).send;

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
export const queueOn = ({ fifoUrl, delayUrl, updatesUrl }: Queues, telemetry: Pick<Telemetry, "queue">): Queue => {
  const steps = sqsQueue({ fifo: fifoUrl, delay: delayUrl });
  return telemetry.queue(updatesUrl === undefined ? steps : apart(steps, { send: sqsSender(updatesUrl) }));
};
