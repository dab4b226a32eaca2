/**
 * Decides which groups of pods are admitted and why the others wait: by the state of their queue, and by the capability
 * of the queue and its ancestors. No other place decides this; a check that a gang fits onto nodes as a whole would
 * belong in `obstacle`.
 */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding } from "../../kube/pods.ts";
import { type Quantity, quantityOf } from "../../kube/quantity.ts";
import { type Amounts, merged } from "../podgroup/usage.ts";
import { lineOf, queueOfGroup, shownState, specOf, statusOf } from "../queue/state/tree.ts";

export type Verdict =
  | { readonly group: Stored; readonly enters: true }
  | { readonly group: Stored; readonly enters: false; readonly why: string };

/** The input of the decision: all queues, all groups, and the priorities of the classes that groups name. */
export type Hall = {
  readonly queues: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly priorities: ReadonlyMap<string, number>;
};

const amountsIn = (value: unknown): Amounts =>
  new Map(
    Object.entries(fieldsOf(value)).flatMap(([name, text]): readonly [string, Quantity][] => {
      const amount = quantityOf(text);
      return amount === undefined ? [] : [[name, amount]];
    }),
  );

const needOf = (group: Stored): Amounts => amountsIn(specOf(group)["minResources"]);

export const phaseOf = (group: Stored): string => {
  const { phase } = statusOf(group);
  return typeof phase === "string" ? phase : "";
};

const holding = ["Inqueue", "Running", "Unknown"];

/** True for a group that is still to be admitted. */
export const isWaiting = (group: Stored): boolean => ["", "Pending"].includes(phaseOf(group)) && !isEnding(group);

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

type Turn = { readonly group: Stored; readonly rank: readonly number[] };

const comparing = (a: Turn, b: Turn): number => {
  const at = a.rank.findIndex((one, index) => one !== b.rank[index]);
  if (at >= 0) return (a.rank[at] ?? 0) - (b.rank[at] ?? 0);
  return a.group.metadata.name < b.group.metadata.name ? -1 : 1;
};

/** Sorts groups by the priority of their queue, then by their own priority, then by age. */
const inTurn = (groups: readonly Stored[], queues: ReadonlyMap<string, Stored>, { priorities }: Hall): Turn[] =>
  groups
    .map((group): Turn => {
      const queue = queues.get(queueOfGroup(group));
      const ofQueue = queue === undefined ? 0 : numberOf(specOf(queue)["priority"]);
      const own = priorities.get(String(specOf(group)["priorityClassName"] ?? "")) ?? 0;
      return { group, rank: [-ofQueue, -own, instantOf(group.metadata.creationTimestamp) ?? 0] };
    })
    .sort(comparing);

type Ledger = Map<string, Amounts>;

const enter = (ledger: Ledger, line: readonly Stored[], need: Amounts): void => {
  for (const { metadata } of line) ledger.set(metadata.name, merged(ledger.get(metadata.name) ?? new Map(), need));
};

const overfull = (held: Amounts, need: Amounts, room: Amounts): string | undefined =>
  [...room].find(([name, { nano }]) => {
    const more = need.get(name)?.nano ?? 0n;
    return more > 0n && (held.get(name)?.nano ?? 0n) + more > nano;
  })?.[0];

/** Returns why a group must wait; undefined if it may be admitted. */
const obstacle = (ledger: Ledger, line: readonly Stored[], group: Stored): string | undefined => {
  const [own] = line;
  const name = queueOfGroup(group);
  if (own === undefined) return `queue ${name} is not found`;
  if (shownState(own) !== "Open") return `queue ${name} is ${shownState(own)}`;
  for (const queue of line) {
    const held = ledger.get(queue.metadata.name) ?? new Map();
    const scarce = overfull(held, needOf(group), amountsIn(specOf(queue)["capability"]));
    if (scarce !== undefined) return `queue ${queue.metadata.name} has too little ${scarce} left`;
  }
  return undefined;
};

const isFifo = (queue: Stored | undefined): boolean =>
  queue !== undefined && specOf(queue)["dequeueStrategy"] === "fifo";

/** Returns a verdict for every waiting group, in their order. In a `fifo` queue no group passes one before it. */
export const verdictsOf = (hall: Hall): readonly Verdict[] => {
  const queues = new Map(hall.queues.map((queue) => [queue.metadata.name, queue]));
  const ledger: Ledger = new Map();
  for (const group of hall.groups.filter((one) => holding.includes(phaseOf(one))))
    enter(ledger, lineOf(queueOfGroup(group), queues), needOf(group));
  const blocked = new Set<string>();
  return inTurn(hall.groups.filter(isWaiting), queues, hall).map(({ group }): Verdict => {
    const name = queueOfGroup(group);
    const line = lineOf(name, queues);
    const why = blocked.has(name) ? `others come before it in queue ${name}` : obstacle(ledger, line, group);
    if (why === undefined) enter(ledger, line, needOf(group));
    else if (isFifo(queues.get(name))) blocked.add(name);
    return why === undefined ? { group, enters: true } : { group, enters: false, why };
  });
};
