/** Takes deliveries off the embedded queue, so many at once, and drains when told to stop. */
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

export const startWorkers = ({ queue, take, parallel, againMs, now }: Options): Workers => {
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  const flights = new Set<Promise<void>>();

  const fly = async (delivery: Delivery): Promise<void> => {
    const done = await take(delivery.messages).catch(() => false);
    if (done) queue.acknowledge(delivery);
    else queue.giveBack(delivery, againMs);
  };

  const pump = (): void => {
    if (stopping) return;
    for (const delivery of queue.receive(parallel - flights.size)) {
      const flight = fly(delivery).finally(() => {
        flights.delete(flight);
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
