/** Status updates for those that take steps: who listens, and where deliveries wait. What delivers is in delivering.ts. */
import { type Key, subjectOf } from "../core/key.ts";
import type { Queue, Updates } from "../engine/ports.ts";
import { readRecord } from "../engine/record.ts";
import type { World } from "../engine/world.ts";
import { openUpdates } from "../updates/listening.ts";

/** The port through which steps learn who listens. `to`: who is told where nobody else is named; "": nobody. */
export const updatesFor = ({ cluster, checkpoints, report, clock }: World, { to }: { readonly to: string }): Updates =>
  openUpdates({ cluster, checkpoints, report, read: readRecord, fallback: to, now: () => clock.monotonic() });

/** What of a key's is sent where: deliveries wait in a queue of their own, so that no step waits behind a silent listener. */
export const apart = (steps: Queue, deliveries: Pick<Queue, "send"> & Partial<Queue>): Queue => {
  const isDelivery = (message: Key): boolean => subjectOf(message) !== undefined;
  return {
    send: (message, id) => (isDelivery(message) ? deliveries : steps).send(message, id),
    sendLater: (message, id, delayMs) =>
      ((isDelivery(message) ? deliveries.sendLater : undefined) ?? steps.sendLater)(message, id, delayMs),
  };
};
