/**
 * The ledger of an admission round: the amounts that admitted groups hold in each queue, and from them the room and the share
 * of a queue. Guarantee, room and share are as in volcano's capacity plugin, without the total of the cluster, so amounts are
 * bounded where the queue or an ancestor has a capability.
 */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { type Amounts, amountsIn, merged } from "../../kube/pod-usage.ts";
import { larger, type Quantity, quantityText } from "../../kube/quantity.ts";
import { parentOf, specOf } from "../queue/state/tree.ts";

export type Ledger = {
  /** By queue: the amounts of the groups in it and below it. */
  readonly held: Map<string, Amounts>;
  /** By queue: the sum of the guarantees of its children. */
  readonly guaranteed: ReadonlyMap<string, Amounts>;
  /** The resources that any queue states. No other resource of a group is read: tenants write groups. */
  readonly stated: ReadonlySet<string>;
};

const none: Amounts = new Map();

const zero: Quantity = { nano: 0n, format: "decimal" };

const nanoOf = (amounts: Amounts, name: string): bigint => amounts.get(name)?.nano ?? 0n;

const guaranteeOf = (queue: Stored): Amounts => amountsIn(fieldsOf(specOf(queue)["guarantee"])["resource"]);

const capabilityOf = (queue: Stored): Amounts => amountsIn(specOf(queue)["capability"]);

const deservedOf = (queue: Stored): Amounts => amountsIn(specOf(queue)["deserved"]);

/** Returns the resources that any of these queues states. */
export const statedIn = (queues: readonly Stored[]): ReadonlySet<string> =>
  new Set(
    queues.flatMap((queue) =>
      [capabilityOf(queue), guaranteeOf(queue), deservedOf(queue)].flatMap((amounts) => [...amounts.keys()]),
    ),
  );

/** Opens a ledger in which no group holds anything. */
export const openLedger = (queues: readonly Stored[]): Ledger => {
  const guaranteed = new Map<string, Amounts>();
  for (const queue of queues) {
    const parent = parentOf(queue);
    guaranteed.set(parent, merged(guaranteed.get(parent) ?? none, guaranteeOf(queue)));
  }
  return { held: new Map(), guaranteed, stated: statedIn(queues) };
};

/** Returns what a group says that it needs of the resources that queues state. */
export const needOf = ({ stated }: Ledger, group: Stored): Amounts => {
  const given = fieldsOf(specOf(group)["minResources"]);
  return amountsIn(Object.fromEntries([...stated].map((name) => [name, given[name]])));
};

/** Returns the amounts of the resources that queues state. */
export const statedOf = ({ stated }: Pick<Ledger, "stated">, amounts: Amounts): Amounts =>
  new Map([...amounts].filter(([name]) => stated.has(name)));

/** True for a queue that bounds the amounts in it and below it. */
export const isBounding = (queue: Stored): boolean => capabilityOf(queue).size > 0;

const heldIn = ({ held }: Ledger, queue: Stored): Amounts => held.get(queue.metadata.name) ?? none;

/** Adds the need of an admitted group to its queue and the queue's ancestors. */
export const enter = ({ held }: Ledger, line: readonly Stored[], need: Amounts): void => {
  for (const { metadata } of line) held.set(metadata.name, merged(held.get(metadata.name) ?? none, need));
};

/** Returns the part of the parent's room that is not guaranteed to other queues. */
const lentTo = (ledger: Ledger, queue: Stored, parent: Stored, room: Amounts): Amounts => {
  const sum = ledger.guaranteed.get(parent.metadata.name) ?? none;
  const own = guaranteeOf(queue);
  return new Map(
    [...room].map(([name, { nano, format }]) => {
      const left = larger(zero, { nano: nano - nanoOf(sum, name), format });
      return [name, { nano: left.nano + nanoOf(own, name), format }];
    }),
  );
};

const smaller = (a: Quantity, b: Quantity): Quantity => (b.nano < a.nano ? b : a);

/** Returns the rooms of a queue and its ancestors, the queue's first: the amounts that the groups of each may hold. */
const roomsOf = (ledger: Ledger, line: readonly Stored[]): readonly Amounts[] => {
  const rooms: Amounts[] = [];
  for (const [index, queue] of [...line.entries()].reverse()) {
    const parent = line[index + 1];
    const room = new Map(parent === undefined ? none : lentTo(ledger, queue, parent, rooms[0] ?? none));
    for (const [name, amount] of capabilityOf(queue)) room.set(name, smaller(amount, room.get(name) ?? amount));
    rooms.unshift(room);
  }
  return rooms;
};

/** Returns a resource of which a need exceeds the room beside what is held. */
const overfull = (held: Amounts, need: Amounts, room: Amounts): string | undefined =>
  [...room].find(([name, { nano }]) => {
    const more = nanoOf(need, name);
    return more > 0n && nanoOf(held, name) + more > nano;
  })?.[0];

const textIn = (amounts: Amounts, name: string): string => quantityText(amounts.get(name) ?? zero);

/** Returns why a need does not fit the room of a queue: also without other groups, or beside those that are in it. */
const shortIn = (ledger: Ledger, queue: Stored, need: Amounts, room: Amounts): string | undefined => {
  const { name } = queue.metadata;
  const never = overfull(none, need, room);
  if (never !== undefined)
    return `queue ${name} has ${textIn(room, never)} ${never} in all, and ${textIn(need, never)} are needed`;
  const scarce = overfull(heldIn(ledger, queue), need, room);
  return scarce === undefined ? undefined : `queue ${name} has too little ${scarce} left`;
};

/** Returns how many times an amount fits the room of a queue and its ancestors; infinite if nothing bounds it. */
export const mostThatFit = (ledger: Ledger, line: readonly Stored[], size: Amounts): number => {
  const rooms = roomsOf(ledger, line);
  let most = Number.POSITIVE_INFINITY;
  for (const [at, queue] of line.entries())
    for (const [name, { nano }] of rooms[at] ?? none) {
      const each = nanoOf(size, name);
      if (each <= 0n) continue;
      const left = nano - nanoOf(heldIn(ledger, queue), name);
      most = Math.min(most, left < each ? 0 : Number(left / each));
    }
  return most;
};

/** Returns the reason why a need exceeds the room of its queue or an ancestor; undefined if there is room. */
export const shortage = (ledger: Ledger, line: readonly Stored[], need: Amounts): string | undefined => {
  for (const queue of line) {
    const short = shortIn(ledger, queue, need, capabilityOf(queue));
    if (short !== undefined) return short;
  }
  const rooms = roomsOf(ledger, line);
  // From the root downwards, the first shortage is at the level whose guarantees cause it.
  for (const [index, queue] of [...line.entries()].reverse()) {
    const short = shortIn(ledger, queue, need, rooms[index] ?? none);
    if (short !== undefined) return `${short}: queue ${parentOf(queue)} guarantees the rest to other queues`;
  }
  return undefined;
};

/** The share of a resource that a queue deserves. `isStated`: its spec states that share. */
export type Due = { readonly deserved: Quantity; readonly guarantee: Quantity; readonly isStated: boolean };

/** Returns what the first queue of the line deserves: at least the guarantee and at most the room. */
const duesOf = (ledger: Ledger, line: readonly Stored[]): ReadonlyMap<string, Due> => {
  const [queue] = line;
  if (queue === undefined) return new Map();
  const [stated, guarantee] = [deservedOf(queue), guaranteeOf(queue)];
  const names = [...new Set([...stated.keys(), ...guarantee.keys()])];
  const [room = none] = names.length === 0 ? [] : roomsOf(ledger, line);
  return new Map(
    names.map((name) => {
      const wanted = stated.get(name) ?? zero;
      const least = guarantee.get(name) ?? zero;
      const deserved = larger(smaller(wanted, room.get(name) ?? wanted), least);
      return [name, { deserved, guarantee: least, isStated: stated.has(name) }];
    }),
  );
};

/** Makes the function that returns what a queue deserves, by its line. */
export const openDues = (queues: readonly Stored[]): ((line: readonly Stored[]) => ReadonlyMap<string, Due>) => {
  const ledger = openLedger(queues);
  return (line) => duesOf(ledger, line);
};

const ratioOf = (held: bigint, deserved: bigint): number => {
  if (deserved === 0n) return held === 0n ? 0 : 1;
  return Number(held) / Number(deserved);
};

/** The share of a queue that deserves nothing in particular: it comes after all that hold less than they deserve. */
const wholeShare = 1;

/** Returns the share of the first queue of the line: the largest ratio of an amount held to the amount deserved. */
export const shareOf = (ledger: Ledger, line: readonly Stored[]): { share: number; deserves: boolean } => {
  const [queue] = line;
  if (queue === undefined) return { share: wholeShare, deserves: false };
  const dues = duesOf(ledger, line);
  if (dues.size === 0) return { share: wholeShare, deserves: false };
  const held = heldIn(ledger, queue);
  const ratios = [...dues].map(([name, { deserved }]) => ratioOf(nanoOf(held, name), deserved.nano));
  return { share: Math.max(...ratios), deserves: true };
};
