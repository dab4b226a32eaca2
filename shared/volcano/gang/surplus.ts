/**
 * Room for pods beyond the minimum of their groups, in queues that are bounded. It comes after the groups that wait, from
 * what is left: groups of the highest rank first, and groups of one rank share what they compete for.
 */
import type { Stored } from "../../core/object.ts";
import { type Amounts, multiply } from "../../kube/pod-usage.ts";
import type { PodCounts } from "../../kube/queue-room.ts";
import { enter, isBounding, type Ledger, mostThatFit, shortage, statedOf } from "./ledger.ts";
import type { TaskUsage } from "./queue-usage.ts";

/** A group that may get room: `line` is its queue with the ancestors; `closed`: why it gets none in this round. */
export type Contender = {
  readonly group: Stored;
  readonly line: readonly Stored[];
  /** Groups of an equal rank share room; lower ones come first. */
  readonly rank: readonly number[];
  readonly tasks: readonly TaskUsage[];
  readonly closed?: string | undefined;
};

/** The room of a group after the round; `short`: why pods of it wait. */
export type Growth = { readonly group: Stored; readonly room: PodCounts; readonly short?: string };

type Task = { readonly task: string; readonly size: Amounts; readonly wanted: number; room: number };

type Open = {
  readonly contender: Contender;
  /** Those that compete for the same room, as the queue that bounds them is the same. */
  readonly pool: string;
  readonly tasks: readonly Task[];
  readonly why: string | undefined;
};

const openOf = (ledger: Ledger, contender: Contender): Open => ({
  contender,
  pool: contender.line.findLast(isBounding)?.metadata.name ?? "",
  tasks: contender.tasks.map(({ task, size, room, wanted }) => ({ task, room, wanted, size: statedOf(ledger, size) })),
  why: contender.closed,
});

const lackOf = ({ tasks }: Open): number => tasks.reduce((sum, { wanted, room }) => sum + wanted - room, 0);

/** Gives a group the part of the room that is its share among so many; false if it needs or gets no more. */
const grow = (ledger: Ledger, open: Open, sharers: number): boolean => {
  const { line } = open.contender;
  if (open.why !== undefined) return false;
  const task = open.tasks.find(({ wanted, room, size }) => wanted > room && mostThatFit(ledger, line, size) > 0);
  if (task === undefined) return false;
  const fits = mostThatFit(ledger, line, task.size);
  const count = Math.min(task.wanted - task.room, Math.max(1, Math.floor(fits / sharers)));
  enter(ledger, line, multiply(task.size, count));
  task.room += count;
  return lackOf(open) > 0;
};

const growAll = (ledger: Ledger, all: readonly Open[]): void => {
  for (let open = all.filter((one) => lackOf(one) > 0); open.length > 0; ) {
    const sharers = Map.groupBy(open, ({ pool }) => pool);
    open = open.filter((one) => grow(ledger, one, sharers.get(one.pool)?.length ?? 1));
  }
};

const shortOf = (ledger: Ledger, { contender: { line }, tasks, ...open }: Open): string | undefined => {
  const lacking = tasks.filter(({ wanted, room }) => wanted > room);
  const [first] = lacking;
  if (first === undefined) return undefined;
  const missing = lacking.reduce((sum, { wanted, room }) => sum + wanted - room, 0);
  const total = tasks.reduce((sum, { wanted }) => sum + wanted, 0);
  const why = open.why ?? shortage(ledger, line, first.size) ?? "its queue has no room left";
  return `${why}: ${missing} of ${total} pods ${missing === 1 ? "waits" : "wait"}`;
};

const compared = (a: readonly number[], b: readonly number[]): number =>
  a.map((one, at) => one - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;

/** Returns the room of each group, after the groups of the round have entered the ledger. */
export const growthsOf = (ledger: Ledger, contenders: readonly Contender[]): readonly Growth[] => {
  const all = contenders.map((contender) => openOf(ledger, contender));
  const ranked = all.toSorted((a, b) => compared(a.contender.rank, b.contender.rank));
  for (const own of Map.groupBy(ranked, ({ contender }) => contender.rank.join()).values()) growAll(ledger, own);
  return all.map((open) => {
    const short = shortOf(ledger, open);
    const room = Object.fromEntries(open.tasks.map((task) => [task.task, task.room]));
    return { group: open.contender.group, room, ...(short === undefined ? {} : { short }) };
  });
};
