/**
 * Decides which groups of pods are admitted and why the others wait. The ledger of a round holds the amounts that
 * admitted groups have in each queue, and from them the room and the share of a queue: guarantee, room and share as
 * volcano's capacity plugin, without the total of the cluster, so amounts are bounded where the queue or an ancestor
 * has a capability. Groups are looked at one at a time, as in volcano's allocate: each that enters raises the share of
 * its queue, so queues that hold less of what they deserve come next.
 */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { isWaiting, phaseOf } from "../../kube/gang-plan.ts";
import { larger, type Quantity, quantityOf } from "../../kube/quantity.ts";
import { byRank, type Ranked, rankedInQueue } from "../../kube/queue-order.ts";
import { type Amounts, merged } from "../podgroup/usage.ts";
import { isFifo, lineOf, parentOf, queueOfGroup, shownState, specOf } from "../queue/state/tree.ts";
import type { Answer, Obstacle, RoundPlanner } from "./ground.ts";

export const amountsIn = (value: unknown): Amounts =>
  new Map(
    Object.entries(fieldsOf(value)).flatMap(([name, text]): readonly [string, Quantity][] => {
      const amount = quantityOf(text);
      return amount === undefined ? [] : [[name, amount]];
    }),
  );

type Ledger = {
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
const openLedger = (queues: readonly Stored[]): Ledger => {
  const guaranteed = new Map<string, Amounts>();
  for (const queue of queues) {
    const parent = parentOf(queue);
    guaranteed.set(parent, merged(guaranteed.get(parent) ?? none, guaranteeOf(queue)));
  }
  return { held: new Map(), guaranteed, stated: statedIn(queues) };
};

/** Returns what a group needs of the resources that queues state. */
const needOf = ({ stated }: Ledger, group: Stored): Amounts => {
  const given = fieldsOf(specOf(group)["minResources"]);
  return amountsIn(Object.fromEntries([...stated].map((name) => [name, given[name]])));
};

const heldIn = ({ held }: Ledger, queue: Stored): Amounts => held.get(queue.metadata.name) ?? none;

/** Adds the need of an admitted group to its queue and the queue's ancestors. */
const enter = ({ held }: Ledger, line: readonly Stored[], need: Amounts): void => {
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

const overfull = (held: Amounts, need: Amounts, room: Amounts): string | undefined =>
  [...room].find(([name, { nano }]) => {
    const more = nanoOf(need, name);
    return more > 0n && nanoOf(held, name) + more > nano;
  })?.[0];

/** Returns the reason why a need exceeds the room of its queue or an ancestor; undefined if there is room. */
const shortage = (ledger: Ledger, line: readonly Stored[], need: Amounts): string | undefined => {
  for (const queue of line) {
    const scarce = overfull(heldIn(ledger, queue), need, capabilityOf(queue));
    if (scarce !== undefined) return `queue ${queue.metadata.name} has too little ${scarce} left`;
  }
  const rooms = roomsOf(ledger, line);
  // From the root downwards, the first shortage is at the level whose guarantees cause it.
  for (const [index, queue] of [...line.entries()].reverse()) {
    const scarce = overfull(heldIn(ledger, queue), need, rooms[index] ?? none);
    if (scarce !== undefined)
      return `queue ${queue.metadata.name} has too little ${scarce} left: queue ${parentOf(queue)} guarantees the rest to other queues`;
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
const shareOf = (ledger: Ledger, line: readonly Stored[]): { share: number; deserves: boolean } => {
  const [queue] = line;
  if (queue === undefined) return { share: wholeShare, deserves: false };
  const dues = duesOf(ledger, line);
  if (dues.size === 0) return { share: wholeShare, deserves: false };
  const held = heldIn(ledger, queue);
  const ratios = [...dues].map(([name, { deserved }]) => ratioOf(nanoOf(held, name), deserved.nano));
  return { share: Math.max(...ratios), deserves: true };
};

/** The groups that wait in one queue, in their order; `at` is the index of the next. */
type Waiting = { readonly line: readonly Stored[]; readonly groups: readonly Ranked[]; readonly at: number };

/** The next group of a queue, ranked among those of all queues. */
type Head = Waiting & { readonly next: Ranked };

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

const headOf = (ledger: Ledger, { line, groups, at }: Waiting): Head | undefined => {
  const first = groups[at];
  if (first === undefined) return undefined;
  const [queue] = line;
  const priority = queue === undefined ? 0 : numberOf(specOf(queue)["priority"]);
  const { share, deserves } = shareOf(ledger, line);
  const rank = [-priority, share, deserves ? 0 : 1, ...first.rank];
  return { line, groups, at, next: { group: first.group, rank } };
};

/** Inserts a head into sorted heads by bisection: a round may have thousands of queues. */
const insert = (heads: Head[], head: Head | undefined): void => {
  if (head === undefined) return;
  let [low, high] = [0, heads.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = heads[middle];
    if (other !== undefined && byRank(other.next, head.next) < 0) low = middle + 1;
    else high = middle;
  }
  heads.splice(low, 0, head);
};

/** Takes out the heads of queues whose share has changed with that of a queue below them. */
const takeAncestors = (heads: Head[], { line }: Head, waiting: ReadonlySet<Stored | undefined>): readonly Head[] =>
  line.slice(1).flatMap((queue) => {
    const at = waiting.has(queue) ? heads.findIndex((head) => head.line[0] === queue) : -1;
    return at < 0 ? [] : heads.splice(at, 1);
  });

/**
 * Yields groups by the priority of their queue, the share that the queue holds by then, whether the queue states what it
 * deserves, the priority of their own class, and age. The ledger must show a group that enters before the next is taken.
 */
function* inTurn(
  groups: readonly Stored[],
  queues: ReadonlyMap<string, Stored>,
  priorities: ReadonlyMap<string, number>,
  ledger: Ledger,
): Generator<Stored, void> {
  const ranked = groups.map((group) => rankedInQueue(group, priorities)).sort(byRank);
  const heads: Head[] = [];
  for (const [name, own] of Map.groupBy(ranked, ({ group }) => queueOfGroup(group)))
    insert(heads, headOf(ledger, { line: lineOf(name, queues), groups: own, at: 0 }));
  const waiting = new Set(heads.map(({ line }) => line[0]));
  for (let head = heads.shift(); head !== undefined; head = heads.shift()) {
    yield head.next.group;
    for (const ancestor of takeAncestors(heads, head, waiting)) insert(heads, headOf(ledger, ancestor));
    insert(heads, headOf(ledger, { ...head, at: head.at + 1 }));
  }
}

export type Verdict =
  /** `places`: the plan of its minimum; empty where groups are admitted without a look at nodes. */
  | ({ readonly group: Stored } & Extract<Answer, { readonly enters: true }>)
  | ({ readonly group: Stored; readonly enters: false } & Obstacle);

/** The input of the decision: all queues, all groups, and the priorities of the classes that groups name. */
export type AdmissionInput = {
  readonly queues: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly priorities: ReadonlyMap<string, number>;
  /** The room of nodes, and the demands of groups on it; absent: groups are admitted without a look at nodes. */
  readonly ground?: RoundPlanner;
  /** UIDs of groups that get the room of evicted pods: their queues have admitted them already. Absent: none. */
  readonly nominated?: ReadonlySet<string>;
};

const holding = ["Inqueue", "Running", "Unknown"];

/** True of the phase of a group that holds its resources in its queue. */
export const isHolding = (phase: string): boolean => holding.includes(phase);

/** Returns why a group must wait; undefined if it may be admitted. */
const obstacle = (ledger: Ledger, line: readonly Stored[], group: Stored, isNominated: boolean): string | undefined => {
  const [own] = line;
  const name = queueOfGroup(group);
  if (own === undefined) return `queue ${name} is not found`;
  if (shownState(own) !== "Open") return `queue ${name} is ${shownState(own)}`;
  return isNominated ? undefined : shortage(ledger, line, needOf(ledger, group));
};

/** Returns a verdict for every waiting group, in their order. In a `fifo` queue no group passes one before it. */
export const verdictsOf = (hall: AdmissionInput): readonly Verdict[] => {
  const queues = new Map(hall.queues.map((queue) => [queue.metadata.name, queue]));
  const ledger = openLedger(hall.queues);
  const isNominated = (group: Stored): boolean => hall.nominated?.has(group.metadata.uid) === true;
  for (const group of hall.groups.filter((one) => isHolding(phaseOf(one)) || isNominated(one)))
    enter(ledger, lineOf(queueOfGroup(group), queues), needOf(ledger, group));
  const blocked = new Set<string>();
  const answerTo = (group: Stored): Answer => {
    const name = queueOfGroup(group);
    const why =
      blocked.has(name) && !isNominated(group)
        ? `others come before it in queue ${name}`
        : obstacle(ledger, lineOf(name, queues), group, isNominated(group));
    if (why !== undefined) return { enters: false, why };
    return hall.ground?.ask(group) ?? { enters: true, places: [] };
  };
  return Array.from(inTurn(hall.groups.filter(isWaiting), queues, hall.priorities, ledger), (group): Verdict => {
    const name = queueOfGroup(group);
    const line = lineOf(name, queues);
    const answer = answerTo(group);
    if (answer.enters && !isNominated(group)) enter(ledger, line, needOf(ledger, group));
    else if (!answer.enters && isFifo(queues.get(name))) blocked.add(name);
    return { group, ...answer };
  });
};
