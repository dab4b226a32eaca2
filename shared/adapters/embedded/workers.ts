/**
 * Takes deliveries off the embedded queue, so many at once, and drains when told to stop. A namespace has no more in flight
 * than three times as many as places are free: alone it takes three quarters of the places, and some are always left for a
 * namespace that comes later, however slow the others are.
 */
import type { Message } from "../../core/key.ts";
import type { Delivery, EmbeddedQueue } from "./queue.ts";

export type Workers = {
  /** Takes nothing new, and resolves when what is in flight is done or `graceMs` has passed. */
  stop(graceMs: number): Promise<void>;
  busy(): number;
};

type Options = {
  readonly queue: EmbeddedQueue;
  /** False when the messages must be delivered again. */
  readonly take: (messages: readonly Message[]) => Promise<boolean>;
  readonly parallel: number;
  /** How long a failed delivery rests before it is taken again. */
  readonly againMs: number;
  readonly now: () => number;
};

/** As the dynamic thresholds of shared buffers: what is left free shrinks with the number of those who are busy, and stays. */
const perFreePlace = 3;

export const startWorkers = ({ queue, take, parallel, againMs, now }: Options): Workers => {
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  const flights = new Set<Promise<void>>();
  const inFlight = new Map<string, number>();

  const countIn = (namespace: string, more: 1 | -1): void => {
    const count = (inFlight.get(namespace) ?? 0) + more;
    if (count > 0) inFlight.set(namespace, count);
    else inFlight.delete(namespace);
  };
  const admits = (namespace: string): boolean =>
    (inFlight.get(namespace) ?? 0) < perFreePlace * (parallel - flights.size);

  const fly = async (delivery: Delivery): Promise<void> => {
    const done = await take(delivery.messages).catch(() => false);
    if (done) queue.acknowledge(delivery);
    else queue.giveBack(delivery, againMs);
  };

  const pump = (): void => {
    if (stopping) return;
    while (flights.size < parallel) {
      const [delivery] = queue.receive(1, admits);
      if (delivery === undefined) break;
      countIn(delivery.namespace, 1);
      const flight = fly(delivery).finally(() => {
        flights.delete(flight);
        countIn(delivery.namespace, -1);
        pump();
      });
      flights.add(flight);
    }
    clearTimeout(timer);
    const due = queue.nextDue();
    if (due !== undefined) timer = setTimeout(pump, Math.min(60_000, Math.max(5, due - now())));
  };

  let scheduled = false;
  queue.onReady(() => {
    if (scheduled || stopping) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      pump();
    });
  });
  pump();

  return {
    busy: () => flights.size,
    stop: async (graceMs) => {
      stopping = true;
      clearTimeout(timer);
      const grace = new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([Promise.allSettled([...flights]), grace]);
    },
  };
};
