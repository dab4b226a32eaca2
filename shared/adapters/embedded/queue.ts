/**
 * The embedded queue: the guarantees of SQS FIFO and of a delay queue, in one process and on a given clock. Groups are
 * delivered one delivery at a time and in order. A repeated id is dropped for five minutes. Unacknowledged messages
 * return when their visibility timeout ends.
 */
import type { Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import {
  type Admits,
  type Bounds,
  countOf,
  type Delivery,
  expire,
  lockUntil,
  openGroups,
  put,
  type Returned,
  take,
  unlock,
} from "./groups.ts";
import { openHeap } from "./heap.ts";

export type { Delivery, Returned } from "./groups.ts";

export type EmbeddedQueue = Queue & {
  /**
   * Returns at most `groups` deliveries of admitted namespaces (absent: all): namespaces take turns, and within a
   * namespace the longest waiting group comes first. `admits` is called for each delivery.
   */
  receive(groups: number, admits?: Admits): readonly Delivery[];
  /** Removes the messages. An expired receipt has no effect. */
  acknowledge(delivery: Delivery): void;
  /** Returns the messages, or some of them, after `delayMs`; until then the group stays locked. */
  giveBack(delivery: Delivery, delayMs: number, returned?: Returned): void;
  /** The time at which a delayed message or the end of a visibility timeout is due. */
  nextDue(): number | undefined;
  /** The number of messages that wait or are in flight, and of delayed ones. */
  depth(): { readonly ready: number; readonly delayed: number };
  /** Registers a listener, which is called whenever a message may have become ready. */
  onReady(listener: () => void): void;
};

const dedupeMs = 300_000;
const longestDelayMs = 900_000;

/** Remembers ids: true the first time within five minutes. Older ids are removed on the way. */
const openMemory = (now: () => number): ((id: string) => boolean) => {
  const seen = new Map<string, number>();
  return (id) => {
    const time = now();
    for (const [old, at] of seen) {
      if (at + dedupeMs > time) break;
      seen.delete(old);
    }
    if (seen.has(id)) return false;
    seen.set(id, time);
    return true;
  };
};

type Options = Partial<Bounds> & {
  readonly now: () => number;
  readonly visibilityMs: number;
};

export const openQueue = ({
  now,
  visibilityMs,
  maxReceives = Number.POSITIVE_INFINITY,
  mostMessages = Number.POSITIVE_INFINITY,
  bury = () => {},
  weightOf,
}: Options): EmbeddedQueue => {
  const groups = openGroups({ maxReceives, mostMessages, bury, weightOf });
  const delayed = openHeap<Message>();
  const isNew = openMemory(now);
  const listeners: (() => void)[] = [];
  const announce = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    send: async (message, id) => {
      if (!isNew(id)) return;
      put(groups, message);
      announce();
    },
    sendLater: async (message, id, delayMs) => {
      if (!isNew(id)) return;
      delayed.push({ at: now() + Math.min(longestDelayMs, Math.max(0, delayMs)), item: message });
      announce();
    },
    receive: (count, admits = () => true) => {
      const time = now();
      for (let due = delayed.take(time); due !== undefined; due = delayed.take(time)) put(groups, due);
      expire(groups, time);
      return take(groups, count, time + visibilityMs, admits);
    },
    acknowledge: (delivery) => {
      unlock(groups, delivery, true);
      if (groups.ready.size > 0) announce();
    },
    giveBack: (delivery, delayMs, returned) => {
      if (lockUntil(groups, delivery, now() + delayMs, returned)) announce();
    },
    nextDue: () => {
      const due = [delayed.next(), groups.expiries.next()].filter((at) => at !== undefined);
      return due.length === 0 ? undefined : Math.min(...due);
    },
    depth: () => ({ ready: countOf(groups), delayed: delayed.size() }),
    onReady: (listener) => {
      listeners.push(listener);
    },
  };
};
