/** The tree of queues: the fields of a queue, its parent, its children, and its ancestors up to the root. */
import { fieldsOf } from "../../../core/json.ts";
import type { Obj, Stored } from "../../../core/object.ts";
import type { Json } from "../../../kube/responses.ts";
import { type State, stateOf } from "./machine.ts";

export const rootName = "root";
export const defaultName = "default";

/** Upstream's annotation of a queue that was closed with its parent; the queue opens with the parent again. */
export const closedByParent = "volcano.sh/closed-by-parent";

export const specOf = (queue: Stored): Json => fieldsOf(queue["spec"]);

export const statusOf = (queue: Obj): Json => fieldsOf(queue["status"]);

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

/** Returns the name of the queue that a group of pods is in. */
export const queueOfGroup = (group: Stored): string => {
  const { queue } = specOf(group);
  return typeof queue === "string" && queue !== "" ? queue : defaultName;
};
