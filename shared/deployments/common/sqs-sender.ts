/** Keys onto SQS: those of steps onto one FIFO queue, those of deliveries onto another, where there is one. */
import { sqsQueue, sqsSender } from "../../adapters/sqs/queue.ts";
import type { Trail } from "../../adapters/telemetry/trail.ts";
import type { Queue } from "../../engine/ports.ts";
import { apart } from "./separate-queues.ts";

type Queues = {
  readonly fifo: string;
  readonly delay: string;
  /** The deliveries' queue; absent: updates are off, and nobody sends any. */
  readonly updates?: string | undefined;
};

/** The sending side alone. */
export const sendingTo = ({ fifo, updates }: Omit<Queues, "delay">, trail: Pick<Trail, "queue">): Queue["send"] => {
  const send = sqsSender(fifo);
  const steps = { send, sendLater: send };
  return trail.queue(updates === undefined ? steps : apart(steps, { send: sqsSender(updates) })).send;
};

/** Sends at once and later. */
export const queueOn = (queues: Queues, trail: Pick<Trail, "queue">): Queue => {
  const steps = sqsQueue(queues);
  return trail.queue(queues.updates === undefined ? steps : apart(steps, { send: sqsSender(queues.updates) }));
};
