/**
 * The embedded queue: what SQS FIFO and a delay queue promise, in one process and on whatever clock it is given.
 * Groups are delivered one at a time and in order; a repeated id vanishes for five minutes; what is not acknowledged
 * comes back when its visibility ends.
 */
import { groupOf, type Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import { openHeap } from "./heap.ts";

/** Messages of one key, to be taken in one step; locked until acknowledged or `visibleAt`. */
export type Delivery = {
  readonly group: string;
  readonly receipt: number;
  readonly messages: readonly Message[];
};

export type EmbeddedQueue = Queue & {
  /** At most `groups` deliveries, the longest waiting first. */
  receive(groups: number): readonly Delivery[];
  /** The messages are done. A receipt that has expired does nothing. */
  acknowledge(delivery: Delivery): void;
  /** The messages come back after `delayMs`; until then the group stays locked. */
  giveBack(delivery: Delivery, delayMs: number): void;
  /** When something becomes due of itself: a delayed message or the end of a visibility. */
  nextDue(): number | undefined;
  /** Messages waiting or in flight, and those that are delayed. */
  depth(): { readonly ready: number; readonly delayed: number };
  /** Called whenever something may have become ready. */
  onReady(listener: () => void): void;
};

type Item = { readonly id: number; readonly message: Message };
type Lock = { readonly receipt: number; readonly until: number; readonly ids: ReadonlySet<number> };
type Group = { items: Item[]; lock: Lock | undefined };

const dedupeMs = 300_000;

type Options = { readonly now: () => number; readonly visibilityMs: number };

export const openQueue = ({ now, visibilityMs }: Options): EmbeddedQueue => {
  const groups = new Map<string, Group>();
  const ready = new Set<string>();
  const seen = new Map<string, number>();
  const delayed = openHeap<Message>();
  const expiries = openHeap<{ readonly group: string; readonly receipt: number }>();
  const listeners: (() => void)[] = [];
  let serial = 0;

  /** True the first time within five minutes; the oldest ids are forgotten on the way. */
  const isNew = (id: string): boolean => {
    const time = now();
    for (const [old, at] of seen) {
      if (at + dedupeMs > time) break;
      seen.delete(old);
    }
    if (seen.has(id)) return false;
    seen.set(id, time);
    return true;
  };

  const put = (message: Message): void => {
    const name = groupOf(message);
    const group = groups.get(name) ?? { items: [], lock: undefined };
    group.items.push({ id: ++serial, message });
    groups.set(name, group);
    if (group.lock === undefined) ready.add(name);
  };

  const announce = (): void => {
    for (const listener of listeners) listener();
  };

  const unlock = (name: string, receipt: number, done: boolean): void => {
    const group = groups.get(name);
    if (group?.lock?.receipt !== receipt) return;
    const { ids } = group.lock;
    if (done) group.items = group.items.filter((item) => !ids.has(item.id));
    group.lock = undefined;
    if (group.items.length === 0) groups.delete(name);
    else ready.add(name);
  };

  /** Delayed messages and expired locks whose time has come. */
  const ripen = (): void => {
    const time = now();
    for (let message = delayed.take(time); message !== undefined; message = delayed.take(time)) put(message);
    for (let lock = expiries.take(time); lock !== undefined; lock = expiries.take(time)) {
      const until = groups.get(lock.group)?.lock?.until ?? 0;
      if (until <= time) unlock(lock.group, lock.receipt, false);
    }
  };

  const lockFor = (name: string, group: Group, until: number, receipt: number): void => {
    group.lock = { receipt, until, ids: new Set(group.items.map((item) => item.id)) };
    expiries.push({ at: until, item: { group: name, receipt } });
  };

  const deliver = (name: string): Delivery | undefined => {
    ready.delete(name);
    const group = groups.get(name);
    if (group === undefined || group.lock !== undefined) return undefined;
    const receipt = ++serial;
    lockFor(name, group, now() + visibilityMs, receipt);
    return { group: name, receipt, messages: group.items.map((item) => item.message) };
  };

  return {
    send: async (message, id) => {
      if (!isNew(id)) return;
      put(message);
      announce();
    },
    sendLater: async (message, id, delayMs) => {
      if (!isNew(id)) return;
      delayed.push({ at: now() + Math.min(900_000, Math.max(0, delayMs)), item: message });
      announce();
    },
    receive: (count) => {
      ripen();
      const deliveries: Delivery[] = [];
      for (const name of ready) {
        if (deliveries.length >= count) break;
        const delivery = deliver(name);
        if (delivery !== undefined) deliveries.push(delivery);
      }
      return deliveries;
    },
    acknowledge: (delivery) => {
      unlock(delivery.group, delivery.receipt, true);
      if (ready.size > 0) announce();
    },
    giveBack: (delivery, delayMs) => {
      const group = groups.get(delivery.group);
      if (group?.lock?.receipt !== delivery.receipt) return;
      const until = now() + delayMs;
      group.lock = { ...group.lock, until };
      expiries.push({ at: until, item: { group: delivery.group, receipt: delivery.receipt } });
      announce();
    },
    nextDue: () => {
      const due = [delayed.next(), expiries.next()].filter((at) => at !== undefined);
      return due.length === 0 ? undefined : Math.min(...due);
    },
    depth: () => ({
      ready: [...groups.values()].reduce((sum, group) => sum + group.items.length, 0),
      delayed: delayed.size(),
    }),
    onReady: (listener) => {
      listeners.push(listener);
    },
  };
};
