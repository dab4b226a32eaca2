/**
 * The states of a queue as a table of state × action, as volcano queue/state/*.go; and its place in the tree, from its
 * children up to the root.
 */

import { fieldsOf } from "../../../core/json.ts";
import type { Obj, Stored } from "../../../core/object.ts";
import type { Json } from "../../../kube/responses.ts";

export const states = ["Open", "Closed", "Closing", "Unknown"] as const;

export type State = (typeof states)[number];

/** The actions that a command may name; SyncQueue is also the action without a command. */
export const queueActions = ["OpenQueue", "CloseQueue", "SyncQueue"] as const;

export type QueueAction = (typeof queueActions)[number];

/** A queue that drains is Closing as long as groups are in it, and Closed when the last one is gone. */
type Move = "opens" | "drains" | "stays";

const table: Readonly<Record<State, Readonly<Record<QueueAction, Move>>>> = {
  Open: { OpenQueue: "stays", CloseQueue: "drains", SyncQueue: "stays" },
  Closed: { OpenQueue: "opens", CloseQueue: "stays", SyncQueue: "stays" },
  Closing: { OpenQueue: "opens", CloseQueue: "drains", SyncQueue: "drains" },
  Unknown: { OpenQueue: "opens", CloseQueue: "drains", SyncQueue: "stays" },
};

const intos: Readonly<Record<Move, (from: State, groups: number) => State>> = {
  opens: () => "Open",
  drains: (_, groups) => (groups === 0 ? "Closed" : "Closing"),
  stays: (from) => from,
};

/** Returns the state after an action, with this number of PodGroups in the queue. */
export const stateAfter = (from: State, action: QueueAction, groups: number): State =>
  intos[table[from][action]](from, groups);

/** Reads a state. A queue without one is Open; any other text is Unknown. */
const stateOf = (text: unknown): State =>
  text === undefined || text === "" ? "Open" : (states.find((state) => state === text) ?? "Unknown");

export const rootName = "root";
export const defaultName = "default";

/** Upstream's annotation of a queue that was closed with its parent; the queue opens with the parent again. */
export const closedByParent = "volcano.sh/closed-by-parent";

export const specOf = (queue: Stored): Json => fieldsOf(queue.spec);

export const statusOf = (queue: Obj): Json => fieldsOf(queue.status);

/** Returns the state in the queue's status. */
export const shownState = (queue: Obj): State => stateOf(statusOf(queue)["state"]);

/** Returns the name of the queue's parent: root if it names none; "" for root itself. */
export const parentOf = (queue: Stored): string => {
  if (queue.metadata.name === rootName) return "";
  const { parent } = specOf(queue);
  return typeof parent === "string" && parent !== "" ? parent : rootName;
};

export const namedIn = (queues: readonly Stored[], name: string): Stored | undefined =>
  queues.find(({ metadata }) => metadata.name === name);

export const childrenOf = (queue: Stored, queues: readonly Stored[]): readonly Stored[] =>
  queues.filter((one) => one !== queue && parentOf(one) === queue.metadata.name);

/** Returns why no job may be in a queue: only leaf queues take jobs; "" if jobs may. */
export const leafSaying = (name: string, children: number): string => {
  if (name === rootName) return "can not submit job to root queue";
  return children === 0 ? "" : `can only submit job to leaf queue, queue \`${name}\` has ${children} child queues`;
};

/** Returns a queue and its ancestors, itself first; in a cycle each queue occurs once. */
export const lineOf = (name: string, queues: ReadonlyMap<string, Stored>): readonly Stored[] => {
  const line: Stored[] = [];
  const met = new Set<string>();
  for (let at = name; !met.has(at); ) {
    met.add(at);
    const queue = queues.get(at);
    if (queue === undefined) return line;
    line.push(queue);
    at = parentOf(queue);
  }
  return line;
};

/** Returns Kubernetes' message about a queue that does not exist. */
export const notFound = (name: string): string => `queue.scheduling.volcano.sh "${name}" not found`;

/** True of the parent of a queue directly below the root. */
export const isTop = (parent: string): boolean => parent === "" || parent === rootName;

type Place = { readonly name: string; readonly parent: string };

/** Finds the parent of a queue; undefined: there is no such queue. */
type FindParent = (name: string) => string | undefined;

/** Returns why a queue cannot have the parent that it names: itself, or a queue that does not exist; "" if it can. */
export const nextSaying = ({ name, parent }: Place, parentIn: FindParent): string => {
  if (isTop(parent)) return "";
  if (parent === name) return `queue ${name} cannot use itself as parent`;
  return parentIn(parent) === undefined ? `failed to get parent queue of queue ${name}: ${notFound(parent)}` : "";
};

/** Returns the circle of parents that a queue is in; "" if it is in none of several queues. */
export const circleSaying = ({ name, parent }: Place, parentIn: FindParent): string => {
  const line = [name];
  for (let at: string | undefined = parent; at !== undefined && !isTop(at) && !line.slice(1).includes(at); ) {
    line.push(at);
    if (at === name) break;
    at = parentIn(at);
  }
  const isCircle = line.length > 2 && line.at(-1) === name;
  return isCircle ? `queue ${name} is below itself: ${line.join(", below ")}: give one of them another parent` : "";
};

/** Returns why a queue has no place below the root, so that no queue above it bounds it; "" if it has one. */
export const placeSaying = (queue: Stored, queues: readonly Stored[]): string => {
  if (queue.metadata.name === rootName) return "";
  const place = { name: queue.metadata.name, parent: parentOf(queue) };
  const parents = new Map(queues.map((one) => [one.metadata.name, parentOf(one)]));
  const parentIn = (name: string): string | undefined => parents.get(name);
  return nextSaying(place, parentIn) || circleSaying(place, parentIn);
};

/** Returns the name of the queue that a group of pods is in. */
export const queueOfGroup = (group: Stored): string => {
  const { queue } = specOf(group);
  return typeof queue === "string" && queue !== "" ? queue : defaultName;
};

/** True for a queue whose groups are admitted in their order: none passes one before it. */
export const isFifo = (queue: Stored | undefined): boolean =>
  queue !== undefined && specOf(queue)["dequeueStrategy"] === "fifo";
