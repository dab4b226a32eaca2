/** Keys onto SQS: those of steps onto one FIFO queue, those of deliveries onto another, where there is one. */
import { sqsQueue, sqsSender } from "../../adapters/sqs/queue.ts";
import type { Trail } from "../../adapters/telemetry/trail.ts";
import type { Queue } from "../../engine/ports.ts";
import { apart } from "./separate-queues.ts";

type Queues = {
  readonly fifoUrl: string;
  readonly delayUrl: string;
  /** The deliveries' queue; absent: updates are off, and nobody sends any. */
  readonly updatesUrl?: string | undefined;
};

/** The sending side alone. */
export const sendingTo = (
  { fifoUrl, updatesUrl }: Omit<Queues, "delayUrl">,
  trail: Pick<Trail, "queue">,
): Queue["send"] => {
  const send = sqsSender(fifoUrl);
  const steps = { send, sendLater: send };
  return trail.queue(updatesUrl === undefined ? steps : apart(steps, { send: sqsSender(updatesUrl) })).send;
};

/** Sends at once and later. */
export const queueOn = ({ fifoUrl, delayUrl, updatesUrl }: Queues, trail: Pick<Trail, "queue">): Queue => {
  const steps = sqsQueue({ fifo: fifoUrl, delay: delayUrl });
  return trail.queue(updatesUrl === undefined ? steps : apart(steps, { send: sqsSender(updatesUrl) }));
};
