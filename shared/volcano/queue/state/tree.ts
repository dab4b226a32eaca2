/**
 * The states of a queue as a table of state × action, as volcano queue/state/*.go; its place in the tree, from its
 * children up to the root; and its memory: facts that the queue does not show.
 */

import * as z from "zod";
import { fieldsOf } from "../../../core/json.ts";
import type { Obj, Stored } from "../../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../../core/operator.ts";
import type { Json } from "../../../kube/responses.ts";
import { instant } from "../../../kube/schema.ts";

const states = ["Open", "Closed", "Closing", "Unknown"] as const;

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

/** A group that gets the room of evicted pods: saved before the first of them is evicted. */
const nomination = z.object({
  /** The UID of the group, and `NAMESPACE/NAME`. */
  uid: z.string(),
  group: z.string(),
  /** When it was saved first, epoch ms. */
  at: instant,
  /** The rule by which it gets the room. */
  way: z.enum(["preempt", "reclaim"]),
  /** The places of its minimum, once the pods have ended. */
  places: z.array(z.object({ task: z.string(), node: z.string(), count: z.number().int().positive() })),
  /** By the UID of each group that gives room: its pods by UID; `whole`: these are all that it has. */
  victims: z.record(z.string(), z.object({ whole: z.boolean(), pods: z.record(z.string(), z.string()) })),
});

/** With `gang: native`: the finding about the cluster's own gangs, and the objects of the probe that are still there. */
const nativeProbe = z.object({
  is: z.enum(["created", "lowered", "deleted", "on", "off"]),
  /** When that began, epoch ms. */
  at: instant,
  /** Why PodGroups of Kubernetes are not used. */
  why: z.string().optional(),
  probe: z.object({ namespace: z.string(), name: z.string(), uid: z.string() }).optional(),
  /** A later step has found objects of the probe missing, and has created them again. */
  retried: z.boolean().optional(),
  /** Namespaces in which the objects of a probe could not be created. */
  avoids: z.array(z.string()).optional(),
});

export type NativeProbe = z.infer<typeof nativeProbe>;

const memory = z.object({
  /** The state that was decided on, until the status shows it. */
  wanted: z.enum(states).optional(),
  /** The queue's resourceVersion at that decision; the names of the Events about it contain it. */
  decidedAt: z.string().optional(),
  /** The last report about a parent that the queue cannot have. */
  misplaced: z.string().optional(),
  /** UIDs of taken commands: those whose objects exist, and the latest. */
  commands: z.array(z.string()).optional(),
  /** Root only: the component that admits groups of pods, as it was reported last. */
  admits: z.string().optional(),
  /** Root only: when a search of the pods found no scheduler, epoch ms. */
  searchedAt: z.number().optional(),
  /** Root only: a scheduler that runs and admits nothing was reported. */
  silent: z.boolean().optional(),
  /** Root only, with `gang: builtin`: the groups that the latest round has admitted by plans. */
  planning: z
    .object({
      /** When the round was saved, epoch ms. */
      at: instant,
      /** By the UID of each group: the resourceVersion that its write requires. */
      groups: z.record(z.string(), z.string()),
    })
    .optional(),
  /** Root only, with `gangEvict`: groups that get the room of evicted pods. */
  nominations: z.array(nomination).optional(),
  /** Root only, with `gang: native`. */
  native: nativeProbe.optional(),
});

export type Nomination = z.infer<typeof nomination>;

export type QueueMemory = z.infer<typeof memory>;

export const parseQueueMemory = readerOf("Queue", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<QueueMemory> => salvage(memory, memory.partial(), stored);
