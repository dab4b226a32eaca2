/** Separate queues for steps and for deliveries. */
import { type Key, subjectOf } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";

/**
 * Routes each message: deliveries go to their own queue, so that no step waits behind a listener that does not answer.
 */
export const apart = (steps: Queue, deliveries: Pick<Queue, "send"> & Partial<Queue>): Queue => {
  const isDelivery = (message: Key): boolean => subjectOf(message) !== undefined;
  return {
    send: (message, id) => (isDelivery(message) ? deliveries : steps).send(message, id),
    sendLater: (message, id, delayMs) =>
      ((isDelivery(message) ? deliveries.sendLater : undefined) ?? steps.sendLater)(message, id, delayMs),
  };
};
