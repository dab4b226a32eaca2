/**
 * The embedded queue: the guarantees of SQS FIFO and of a delay queue, in one process and on a given clock. Messages
 * keep their order within a group, and a group has one delivery at a time until it is acknowledged or its visibility
 * ends.
 */
import { groupOf, longestDelayMs, type Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";

export type Due<T> = { readonly at: number; readonly item: T };

type Heap<T> = {
  push(due: Due<T>): void;
  /** Removes and returns the earliest item, if it is due. */
  take(now: number): T | undefined;
  next(): number | undefined;
  size(): number;
};

export const openHeap = <T>(): Heap<T> => {
  const items: Due<T>[] = [];
  const at = (index: number): number => items[index]?.at ?? Number.POSITIVE_INFINITY;
  const swap = (a: number, b: number): void => {
    const [x, y] = [items[a], items[b]];
    if (x === undefined || y === undefined) return;
    items[a] = y;
    items[b] = x;
  };
  const rise = (from: number): void => {
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (at(parent) <= at(child)) return;
      swap(parent, child);
      child = parent;
    }
  };
  const sink = (): void => {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const least = at(left + 1) < at(left) ? left + 1 : left;
      if (at(least) >= at(parent)) return;
      swap(parent, least);
      parent = least;
    }
  };
  return {
    push: (due) => rise(items.push(due) - 1),
    take: (now) => {
      const top = items[0];
      if (top === undefined || top.at > now) return undefined;
      const last = items.pop();
      if (last !== undefined && items.length > 0) {
        items[0] = last;
        sink();
      }
      return top.item;
    },
    next: () => items[0]?.at,
    size: () => items.length,
  };
};

/** Messages of one key for one step; locked until acknowledged or expired. */
export type Delivery = {
  readonly group: string;
  readonly namespace: string;
  readonly receipt: number;
  readonly messages: readonly Message[];
  /** The number of deliveries of each message, this one included. */
  readonly received: readonly number[];
};

type Item = { readonly id: number; readonly message: Message; received: number };
type Lock = { readonly receipt: number; readonly until: number; readonly ids: ReadonlySet<number> };
type Group = { readonly namespace: string; items: Item[]; lock: Lock | undefined };

export type Groups = {
  readonly byName: Map<string, Group>;
  /**
   * Names of groups that may be delivered, by namespace: the namespace whose turn is next comes first, and its longest
   * waiting group first.
   */
  readonly ready: Map<string, Set<string>>;
  /** Deliveries of a namespace in one turn; absent: one. */
  readonly weightOf: (namespace: string) => number;
  /** The deliveries left in the turn of the first namespace. */
  turn: { readonly namespace: string; readonly left: number } | undefined;
  readonly expiries: Heap<{ readonly group: string; readonly receipt: number }>;
  readonly bounds: Bounds;
  serial: number;
};

type Bounds = {
  /** Messages that were delivered this many times are passed to `bury`. */
  readonly maxReceives: number;
  /** The most messages of one delivery. */
  readonly mostMessages: number;
  /** Deliveries of a namespace in one turn; absent: one. */
  readonly weightOf?: Groups["weightOf"] | undefined;
  /** Receives each message that was delivered too often; the queue does not keep it. */
  readonly bury: (message: Message) => void;
};

const openGroups = (bounds: Bounds): Groups => ({
  byName: new Map(),
  ready: new Map(),
  weightOf: bounds.weightOf ?? (() => 1),
  turn: undefined,
  expiries: openHeap(),
  bounds,
  serial: 0,
});

const markReady = ({ ready }: Groups, name: string, { namespace }: Group): void => {
  const names = ready.get(namespace) ?? new Set();
  ready.set(namespace, names.add(name));
};

const put = (groups: Groups, message: Message): void => {
  const name = groupOf(message);
  const group = groups.byName.get(name) ?? { namespace: message.namespace, items: [], lock: undefined };
  groups.serial += 1;
  group.items.push({ id: groups.serial, message, received: 0 });
  groups.byName.set(name, group);
  if (group.lock === undefined) markReady(groups, name, group);
};

/** Ends the lock of this receipt; an outdated receipt has no effect. If `done`, its messages are removed. */
const unlock = (groups: Groups, { group: name, receipt }: Pick<Delivery, "group" | "receipt">, done: boolean): void => {
  const group = groups.byName.get(name);
  if (group?.lock?.receipt !== receipt) return;
  const { ids } = group.lock;
  if (done) group.items = group.items.filter((item) => !ids.has(item.id));
  group.lock = undefined;
  if (group.items.length === 0) groups.byName.delete(name);
  else markReady(groups, name, group);
};

/** The messages of a delivery that come back. */
export type Returned = {
  /** Positions in the delivery; the other messages are removed. Absent: all return. */
  readonly failed?: readonly number[] | undefined;
  /** False: nobody has begun to work on them, so this delivery does not count. Absent: it counts. */
  readonly begun?: boolean | undefined;
};

/** Returns messages of a delivery at the end of its lock, which moves; false if the receipt is outdated. */
const lockUntil = (
  groups: Groups,
  { group: name, receipt }: Delivery,
  until: number,
  { failed, begun = true }: Returned = {},
): boolean => {
  const group = groups.byName.get(name);
  if (group?.lock?.receipt !== receipt) return false;
  const ids = [...group.lock.ids];
  const returned = new Set(failed === undefined ? ids : ids.filter((_, at) => failed.includes(at)));
  group.items = group.items.filter(({ id }) => returned.has(id) || !ids.includes(id));
  if (!begun) for (const item of group.items) if (returned.has(item.id)) item.received -= 1;
  group.lock = { receipt, until, ids: returned };
  groups.expiries.push({ at: until, item: { group: name, receipt } });
  return true;
};

/** Ends the expired locks; a lock that was moved has a later entry. */
const expire = (groups: Groups, now: number): void => {
  const { expiries, byName } = groups;
  for (let lock = expiries.take(now); lock !== undefined; lock = expiries.take(now)) {
    const until = byName.get(lock.group)?.lock?.until ?? 0;
    if (until <= now) unlock(groups, lock, false);
  }
};

/** Buries messages that were delivered too often, so that later ones can be delivered. */
const putAside = ({ byName, bounds: { maxReceives, bury } }: Groups, name: string, group: Group): void => {
  const worn = group.items.filter(({ received }) => received >= maxReceives);
  if (worn.length === 0) return;
  for (const { message } of worn) bury(message);
  group.items = group.items.filter((item) => !worn.includes(item));
  if (group.items.length === 0) byName.delete(name);
};

const deliver = (groups: Groups, name: string, until: number): Delivery | undefined => {
  const group = groups.byName.get(name);
  if (group === undefined || group.lock !== undefined) return undefined;
  putAside(groups, name, group);
  if (group.items.length === 0) return undefined;
  groups.serial += 1;
  const receipt = groups.serial;
  const items = group.items.slice(0, groups.bounds.mostMessages);
  group.lock = { receipt, until, ids: new Set(items.map((item) => item.id)) };
  groups.expiries.push({ at: until, item: { group: name, receipt } });
  for (const item of items) item.received += 1;
  return {
    group: name,
    namespace: group.namespace,
    receipt,
    messages: items.map(({ message }) => message),
    received: items.map(({ received }) => received),
  };
};

/** True if a namespace may have one more delivery in flight. */
type Admits = (namespace: string) => boolean;

/** Counts a delivery; true if the turn of the namespace is over. */
const endsTurn = (groups: Groups, namespace: string): boolean => {
  const left = (groups.turn?.namespace === namespace ? groups.turn.left : groups.weightOf(namespace)) - 1;
  groups.turn = left > 0 ? { namespace, left } : undefined;
  return left <= 0;
};

/**
 * Removes and returns the longest waiting group of the next namespace; a namespace whose turn is over goes to the end.
 */
const nextReady = (groups: Groups, admits: Admits): string | undefined => {
  const { ready } = groups;
  for (const [namespace, names] of ready) {
    if (!admits(namespace)) continue;
    const [name] = names;
    if (name !== undefined) names.delete(name);
    if (names.size === 0) ready.delete(namespace);
    else if (endsTurn(groups, namespace)) {
      ready.delete(namespace);
      ready.set(namespace, names);
    }
    if (name !== undefined) return name;
  }
  return undefined;
};

/** Returns at most `count` deliveries of admitted namespaces, each locking its group until `until`. */
const take = (groups: Groups, count: number, until: number, admits: Admits): readonly Delivery[] => {
  const deliveries: Delivery[] = [];
  while (deliveries.length < count) {
    const name = nextReady(groups, admits);
    if (name === undefined) break;
    const delivery = deliver(groups, name, until);
    if (delivery !== undefined) deliveries.push(delivery);
  }
  return deliveries;
};

/** Messages that wait or are in flight. */
const countOf = ({ byName }: Groups): number =>
  [...byName.values()].reduce((sum, group) => sum + group.items.length, 0);

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
