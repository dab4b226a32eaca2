/** Steps and deliveries on queues of their own. */
import { type Key, subjectOf } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";

/** What of a key's is sent where: deliveries wait in a queue of their own, so that no step waits behind a silent listener. */
export const apart = (steps: Queue, deliveries: Pick<Queue, "send"> & Partial<Queue>): Queue => {
  const isDelivery = (message: Key): boolean => subjectOf(message) !== undefined;
  return {
    send: (message, id) => (isDelivery(message) ? deliveries : steps).send(message, id),
    sendLater: (message, id, delayMs) =>
      ((isDelivery(message) ? deliveries.sendLater : undefined) ?? steps.sendLater)(message, id, delayMs),
  };
};
