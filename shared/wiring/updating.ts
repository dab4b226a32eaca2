/** Status updates put together: who listens, for those that take steps; and the delivery itself, for those that deliver. */
import { sinkOf } from "../adapters/sinks/door.ts";
import { eventSink } from "../adapters/sinks/events.ts";
import { type HttpsRules, httpsSink } from "../adapters/sinks/https.ts";
import { sqsSink } from "../adapters/sinks/sqs.ts";
import { type Key, subjectOf } from "../core/key.ts";
import type { Queue, Updates } from "../engine/ports.ts";
import { readRecord } from "../engine/record.ts";
import type { World } from "../engine/world.ts";
import { deliver } from "../updates/deliver.ts";
import { openUpdates } from "../updates/listening.ts";

/** What the operator decides about listeners. */
export type Listening = HttpsRules & {
  /** Who is told where nobody else is named; "": nobody. */
  readonly to: string;
};

/** The port through which steps learn who listens. */
export const updatesFor = ({ cluster, checkpoints, report, clock }: World, { to }: Pick<Listening, "to">): Updates =>
  openUpdates({ cluster, checkpoints, report, read: readRecord, fallback: to, now: () => clock.monotonic() });

/** Takes the keys under which updates are delivered. Keeps from a world what a delivery needs, and nothing of its kinds. */
export const deliveryFor = (world: World, listening: Listening): NonNullable<World["deliver"]> => {
  const { operatorOf, cluster } = world;
  const resourceOf = (kind: string) => operatorOf(kind)?.resource;
  const sink = sinkOf({ https: httpsSink(listening), sqs: sqsSink(), events: eventSink({ cluster, resourceOf }) });
  const desk = { ...world, resourceOf, sink, ...updatesFor(world, listening), read: readRecord };
  return (message) => deliver(desk, message);
};

/** Deliveries wait in a queue of their own, so that no step waits behind a listener that does not answer. */
export const apart = (steps: Queue, deliveries: Queue): Queue => {
  const of = (message: Key): Queue => (subjectOf(message) === undefined ? steps : deliveries);
  return {
    send: (message, id) => of(message).send(message, id),
    sendLater: (message, id, delayMs) => of(message).sendLater(message, id, delayMs),
  };
};
