/** Messages by group: in order within it, and one delivery of it out at a time until acknowledged or expired. */
import { groupOf, type Message } from "../../core/key.ts";
import { type Heap, openHeap } from "./heap.ts";

/** Messages of one key, to be taken in one step; locked until acknowledged or expired. */
export type Delivery = {
  readonly group: string;
  readonly receipt: number;
  readonly messages: readonly Message[];
  /** How often each of them was delivered, this time included. */
  readonly received: readonly number[];
};

type Item = { readonly id: number; readonly message: Message; received: number };
type Lock = { readonly receipt: number; readonly until: number; readonly ids: ReadonlySet<number> };
type Group = { items: Item[]; lock: Lock | undefined };

export type Groups = {
  readonly byName: Map<string, Group>;
  /** Names of groups that may be delivered, the longest waiting first. */
  readonly ready: Set<string>;
  readonly expiries: Heap<{ readonly group: string; readonly receipt: number }>;
  /** What was delivered so often is put aside instead of being delivered once more. */
  readonly maxReceives: number;
  readonly dead: Message[];
  serial: number;
};

export const openGroups = (maxReceives: number): Groups => ({
  byName: new Map(),
  ready: new Set(),
  expiries: openHeap(),
  maxReceives,
  dead: [],
  serial: 0,
});

export const put = (groups: Groups, message: Message): void => {
  const name = groupOf(message);
  const group = groups.byName.get(name) ?? { items: [], lock: undefined };
  groups.serial += 1;
  group.items.push({ id: groups.serial, message, received: 0 });
  groups.byName.set(name, group);
  if (group.lock === undefined) groups.ready.add(name);
};

/** Ends the lock of this receipt; a receipt that is over ends nothing. What was `done` goes with it. */
export const unlock = (
  groups: Groups,
  { group: name, receipt }: Pick<Delivery, "group" | "receipt">,
  done: boolean,
): void => {
  const group = groups.byName.get(name);
  if (group?.lock?.receipt !== receipt) return;
  const { ids } = group.lock;
  if (done) group.items = group.items.filter((item) => !ids.has(item.id));
  group.lock = undefined;
  if (group.items.length === 0) groups.byName.delete(name);
  else groups.ready.add(name);
};

/** Moves the end of a delivery's lock. */
export const lockUntil = (groups: Groups, { group: name, receipt }: Delivery, until: number): boolean => {
  const group = groups.byName.get(name);
  if (group?.lock?.receipt !== receipt) return false;
  group.lock = { ...group.lock, until };
  groups.expiries.push({ at: until, item: { group: name, receipt } });
  return true;
};

/** Ends the locks whose time has come; one that was moved has another. */
export const expire = (groups: Groups, now: number): void => {
  const { expiries, byName } = groups;
  for (let lock = expiries.take(now); lock !== undefined; lock = expiries.take(now)) {
    const until = byName.get(lock.group)?.lock?.until ?? 0;
    if (until <= now) unlock(groups, lock, false);
  }
};

/** What was delivered too often already makes way for what came after it. */
const putAside = ({ byName, dead, maxReceives }: Groups, name: string, group: Group): void => {
  const worn = group.items.filter(({ received }) => received >= maxReceives);
  if (worn.length === 0) return;
  dead.push(...worn.map(({ message }) => message));
  group.items = group.items.filter((item) => !worn.includes(item));
  if (group.items.length === 0) byName.delete(name);
};

const deliver = (groups: Groups, name: string, until: number): Delivery | undefined => {
  groups.ready.delete(name);
  const group = groups.byName.get(name);
  if (group === undefined || group.lock !== undefined) return undefined;
  putAside(groups, name, group);
  if (group.items.length === 0) return undefined;
  groups.serial += 1;
  const receipt = groups.serial;
  group.lock = { receipt, until, ids: new Set(group.items.map((item) => item.id)) };
  groups.expiries.push({ at: until, item: { group: name, receipt } });
  for (const item of group.items) item.received += 1;
  const { items } = group;
  return {
    group: name,
    receipt,
    messages: items.map(({ message }) => message),
    received: items.map(({ received }) => received),
  };
};

/** At most `count` deliveries, each locking its group until then. */
export const take = (groups: Groups, count: number, until: number): readonly Delivery[] => {
  const deliveries: Delivery[] = [];
  for (const name of groups.ready) {
    if (deliveries.length >= count) break;
    const delivery = deliver(groups, name, until);
    if (delivery !== undefined) deliveries.push(delivery);
  }
  return deliveries;
};

/** Messages that wait or are in flight. */
export const countOf = ({ byName }: Groups): number =>
  [...byName.values()].reduce((sum, group) => sum + group.items.length, 0);
