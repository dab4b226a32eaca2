/** Sends keys to SQS: those of steps to one FIFO queue, those of deliveries to another, where there is one. */
import { sqsQueue, sqsSender } from "../../adapters/sqs/queue.ts";
import type { Trail } from "../../adapters/telemetry/trail.ts";
import type { Queue } from "../../engine/ports.ts";
import { apart } from "./separate-queues.ts";

type Queues = {
  readonly fifoUrl: string;
  readonly delayUrl: string;
  /** The queue of deliveries; absent: status updates are off. */
  readonly updatesUrl?: string | undefined;
};

/** Opens sending without timers. */
export const sendingTo = (
  { fifoUrl, updatesUrl }: Omit<Queues, "delayUrl">,
  trail: Pick<Trail, "queue">,
): Queue["send"] => {
  const send = sqsSender(fifoUrl);
  const steps = { send, sendLater: send };
  return trail.queue(updatesUrl === undefined ? steps : apart(steps, { send: sqsSender(updatesUrl) })).send;
};

/** Opens sending with timers. */
export const queueOn = ({ fifoUrl, delayUrl, updatesUrl }: Queues, trail: Pick<Trail, "queue">): Queue => {
  const steps = sqsQueue({ fifo: fifoUrl, delay: delayUrl });
  return trail.queue(updatesUrl === undefined ? steps : apart(steps, { send: sqsSender(updatesUrl) }));
};
