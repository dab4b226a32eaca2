/**
 * The invariants of queues that are opened and closed, judged from objects alone, with a table of states of its own.
 *
 * Q1. States follow each other as the table says; the root is never closed.
 * Q2. A queue is Closed only when no group is in it.
 * Q3. A command is removed when a record shows it as taken, and not before, unless its queue is ordered to end.
 * Q4. Steps write only states, parents, marks and unset fields of queues, their records, and commands for queues.
 * Q5. At rest no queue is open below one that is not, no empty one is Closing, and no command is left.
 */
import type { Change } from "../../../../../shared/simulator/storage/store.ts";
import { at, textAt } from "../../fields.ts";
import { forked } from "../../forked.ts";
import type { Oracle, Subject } from "../../oracle.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const queues = "queues.scheduling.volcano.sh";
const groups = "podgroups.scheduling.volcano.sh";
const commands = "commands.bus.volcano.sh";
const checkpoints = "checkpoints.rekindle.dev";

type Queue = { readonly name: string; readonly parent: string; readonly state: string };

type Facts = {
  violations: string[];
  uid: string | undefined;
  phase: string;
  queues: Map<string, Queue>;
  /** The queue of each existing group, by the group's UID. */
  groups: Map<string, string>;
  /** Commands that a record has ever listed. */
  taken: Set<string>;
  /** A record holds an order to end everything. */
  ordered: boolean;
};

const fresh = (): Facts => ({
  violations: [],
  uid: undefined,
  phase: "",
  queues: new Map(),
  groups: new Map(),
  taken: new Set(),
  ordered: false,
});

const nexts: Readonly<Record<string, readonly string[]>> = {
  "": ["Open", "Closed", "Closing"],
  Open: ["Closing", "Closed"],
  Closing: ["Closed", "Open"],
  Closed: ["Open"],
};

const queueOf = (object: Item): Queue => ({
  name: object.metadata.name,
  parent: textAt(object, "spec", "parent") ?? "root",
  state: textAt(object, "status", "state") ?? "",
});

const hearQueue = (facts: Facts, object: Item, subject: Subject, blame: Blame): void => {
  const queue = queueOf(object);
  const before = facts.queues.get(queue.name)?.state ?? "";
  if (before !== queue.state) {
    if (nexts[before]?.includes(queue.state) !== true)
      blame(`Q1: queue ${queue.name} goes from ${before || "nothing"} to ${queue.state}`);
    if (queue.name === "root" && queue.state !== "Open") blame(`Q1: the root is ${queue.state}`);
    if (queue.state === "Closed" && [...facts.groups.values()].includes(queue.name))
      blame(`Q2: queue ${queue.name} is Closed with a group in it`);
  }
  facts.queues.set(queue.name, queue);
  if (queue.name === subject.name) Object.assign(facts, { uid: object.metadata.uid, phase: queue.state });
};

/** The part of a queue that a step may not change: all set fields except parent, state and marks. */
const bare = ({ metadata: { name, uid, labels }, ...object }: Item, before: Item): string => {
  const said = Object.keys(Object(before["spec"])).filter((field) => field !== "parent");
  const spec = Object.fromEntries(said.map((field) => [field, at(object, "spec", field)]));
  return JSON.stringify({ spec, name, uid, labels });
};

/** True for the creation of the queues `root` and `default` where they are missing. */
const isFounding = ({ type, object }: Change): boolean =>
  type === "ADDED" && ["root", "default"].includes(object.metadata.name);

const isWithin = (change: Change): boolean => {
  const { type, object, before } = change;
  const same = before !== undefined && bare(object, before) === bare(before, before);
  return isFounding(change) || (type === "MODIFIED" && same);
};

const permits: Readonly<Record<string, (change: Change) => boolean>> = {
  [queues]: isWithin,
  [checkpoints]: ({ object }) => /^(updates\.)?queue\./.test(object.metadata.name),
  [commands]: ({ type, object }) => type === "DELETED" && textAt(object, "target", "kind") === "Queue",
  events: ({ object }) => textAt(object, "involvedObject", "kind") === "Queue",
};

const permitted = (change: Change): boolean => permits[change.table]?.(change) ?? false;

const hearRecord = (facts: Facts, { type, object }: Change): void => {
  const taken = at(object, "spec", "memory", "commands");
  if (type !== "DELETED" && Array.isArray(taken)) for (const uid of taken) facts.taken.add(String(uid));
  facts.ordered ||= at(object, "spec", "cleanup") !== undefined;
};

const hearGroup = ({ groups: known }: Facts, { type, object }: Change): void => {
  if (type === "DELETED") known.delete(object.metadata.uid);
  else known.set(object.metadata.uid, textAt(object, "spec", "queue") ?? "default");
};

/** Q5. */
const checkRest = (facts: Facts, tables: readonly string[], blame: Blame): void => {
  for (const { name, parent, state } of facts.queues.values()) {
    const above = facts.queues.get(parent)?.state ?? "Open";
    if (state === "Open" && name !== "root" && above !== "Open") blame(`Q5: ${name} is open below ${parent}, ${above}`);
    if (state === "Closing" && ![...facts.groups.values()].includes(name)) blame(`Q5: ${name} drains, and is empty`);
  }
  if (tables.includes(commands)) blame("Q5: a command is left");
};

const openWith = (subject: Subject, facts: Facts): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const hears: Readonly<Record<string, (change: Change) => void>> = {
    [queues]: ({ object }) => hearQueue(facts, object, subject, blame),
    [groups]: (change) => hearGroup(facts, change),
    [checkpoints]: (change) => hearRecord(facts, change),
  };
  return {
    hear: (change, actor) => {
      if (actor === "engine" && !permitted(change))
        blame(`Q4: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
      if (
        actor === "engine" &&
        change.table === commands &&
        !facts.ordered &&
        !facts.taken.has(change.object.metadata.uid)
      )
        blame(`Q3: ${change.object.metadata.name} is removed, and no record says that it was taken`);
      hears[change.table]?.(change);
    },
    permits: permitted,
    said: () => {},
    end: (objects) =>
      checkRest(
        facts,
        objects.map(({ table }) => table),
        blame,
      ),
    violations: () => facts.violations,
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openWith(subject, forked(facts)),
  };
};

export const openQueueOracle = (subject: Subject): Oracle => openWith(subject, fresh());
