/**
 * Takes deliveries from the embedded queue, a limited number at once, and drains on stop. A namespace alone has as many
 * deliveries in flight as `parallel` says. A third as many slots more are for others: a namespace has at most three
 * times as many deliveries in flight as slots are free, so some slots always stay free for a namespace that comes
 * later, however slow the others are.
 */
import type { Message } from "../../core/key.ts";
import type { Delivery, EmbeddedQueue, Returned } from "./queue.ts";

export type Workers = {
  /** Takes no new deliveries, and resolves when those in flight are done or `graceMs` has passed. */
  stop(graceMs: number): Promise<void>;
  busy(): number;
};

/** The end of a delivery: its messages are done, or some of them must be delivered again after this time. */
export type Outcome = "done" | (Returned & { readonly againMs: number });

/** Returns the outcome of work that takes all messages of a delivery or none. */
export const allOrNone =
  (take: (messages: readonly Message[]) => Promise<boolean>, againMs: number) =>
  async ({ messages }: Delivery): Promise<Outcome> =>
    (await take(messages)) ? "done" : { againMs };

type Options = {
  readonly queue: EmbeddedQueue;
  readonly take: (delivery: Delivery) => Promise<Outcome>;
  /** Deliveries in flight of a namespace that is alone. */
  readonly parallel: number;
  /** The wait before a delivery is taken again whose `take` threw, ms. */
  readonly againMs: number;
  readonly now: () => number;
};

/**
 * As the dynamic thresholds of shared buffers: the free share shrinks with the number of busy namespaces, but never to
 * zero.
 */
const perFreePlace = 3;

export const startWorkers = ({ queue, take, parallel, againMs, now }: Options): Workers => {
  const slots = parallel + Math.floor(parallel / perFreePlace);
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  const flights = new Set<Promise<void>>();
  const inFlight = new Map<string, number>();

  const countIn = (namespace: string, more: 1 | -1): void => {
    const count = (inFlight.get(namespace) ?? 0) + more;
    if (count > 0) inFlight.set(namespace, count);
    else inFlight.delete(namespace);
  };
  const admits = (namespace: string): boolean => (inFlight.get(namespace) ?? 0) < perFreePlace * (slots - flights.size);

  const fly = async (delivery: Delivery): Promise<void> => {
    const outcome = await take(delivery).catch((): Outcome => ({ againMs }));
    if (outcome === "done") queue.acknowledge(delivery);
    else queue.giveBack(delivery, outcome.againMs, outcome);
  };

  const pump = (): void => {
    if (stopping) return;
    while (flights.size < slots) {
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
