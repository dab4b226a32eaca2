/**
 * The queue of a function that a dispatcher calls: what a step sends is carried back in the answer to the call, so the
 * function needs no way to the dispatcher. An answer that gets lost loses the messages with the acknowledgement, and
 * the next call makes both again.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Queue } from "../../engine/ports.ts";

/** A message that a function sends: its body, its deduplication id, and for a timer its delay. */
export type CarriedMessage = { readonly body: string; readonly id: string; readonly delayMs?: number | undefined };

export type Carrier = {
  /** Accepts messages within `during` only. */
  readonly queue: Queue;
  /** Runs the work of one call; returns its result and what it has sent. */
  during<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly carried: readonly CarriedMessage[] }>;
};

export const openCarrier = (): Carrier => {
  const calls = new AsyncLocalStorage<CarriedMessage[]>();
  const put = (one: CarriedMessage): void => {
    const carried = calls.getStore();
    if (carried === undefined) throw new Error("a message was sent outside a call of the dispatcher");
    carried.push(one);
  };
  return {
    queue: {
      send: async (message, id) => put({ body: JSON.stringify(message), id }),
      sendLater: async (message, id, delayMs) => put({ body: JSON.stringify(message), id, delayMs }),
    },
    during: async (work) => {
      const carried: CarriedMessage[] = [];
      const value = await calls.run(carried, work);
      return { value, carried };
    },
  };
};
