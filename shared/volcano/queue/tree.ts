/** Queues among each other: what each says of itself, its parent, its children, and the way up to the root. */
import type { Obj, Stored } from "../../core/object.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { type State, stateOf } from "./machine.ts";

export const rootName = "root";
export const defaultName = "default";

/** Set by upstream on a queue that was closed with its parent: it opens with it again. */
export const closedByParent = "volcano.sh/closed-by-parent";

const recordAt = (object: Obj, field: string): Json => {
  const { [field]: value } = object;
  return isRecord(value) ? value : {};
};

export const specOf = (queue: Stored): Json => recordAt(queue, "spec");

export const statusOf = (queue: Obj): Json => recordAt(queue, "status");

/** What everybody sees. */
export const shownState = (queue: Obj): State => stateOf(statusOf(queue)["state"]);

/** The name of its parent: root where it names none; "" of root itself. */
export const parentOf = (queue: Stored): string => {
  if (queue.metadata.name === rootName) return "";
  const { parent } = specOf(queue);
  return typeof parent === "string" && parent !== "" ? parent : rootName;
};

export const namedIn = (queues: readonly Stored[], name: string): Stored | undefined =>
  queues.find(({ metadata }) => metadata.name === name);

export const childrenOf = (queue: Stored, queues: readonly Stored[]): readonly Stored[] =>
  queues.filter((one) => one !== queue && parentOf(one) === queue.metadata.name);

/** A queue and all above it, itself first. Who stands above themselves are gone through once. */
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

/** The queue that a group of pods stands in. */
export const queueOfGroup = (group: Stored): string => {
  const { queue } = specOf(group);
  return typeof queue === "string" && queue !== "" ? queue : defaultName;
};
