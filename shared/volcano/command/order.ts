/**
 * What somebody orders of a job or a queue by an object of its own, a Command. Whoever obeys remembers its UID before the
 * object goes, so that it is obeyed once, whoever dies when.
 */
import * as z from "zod";
import type { Obj, Resource, Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import type { Effect } from "../../core/plan.ts";
import type { Looking } from "../../core/query.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding } from "../../kube/pods.ts";
import { trim } from "../../kube/trim.ts";
import { commands } from "../resource.ts";

const target = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string().catch("") });

type Target = z.infer<typeof target>;

export type Order = {
  readonly object: Stored;
  readonly uid: string;
  readonly action: string;
  /** Meant for another object, which had this one's name. */
  readonly stale: boolean;
};

/** Whom a command is for, if it is for one of this kind. */
const targetOf = (command: Obj, { kind, group }: Resource): Target | undefined => {
  const read = target.safeParse(command["target"]);
  if (!read.success || read.data.kind !== kind) return undefined;
  return read.data.apiVersion.split("/")[0] === group ? read.data : undefined;
};

const createdAt = ({ metadata }: Obj): number => instantOf(metadata.creationTimestamp) ?? 0;

/** By UID; one that names none is for whoever had the name when it was made. */
const isStale = (command: Obj, { uid }: Target, about: Stored): boolean =>
  uid === "" ? createdAt(command) < createdAt(about) : uid !== about.metadata.uid;

const byAge = (a: Stored, b: Stored): number =>
  createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1);

/** Those of the listed commands that are for an object, or were for one of its name; the oldest first. */
export const ordersFor = (about: Stored, resource: Resource, listed: readonly Stored[]): readonly Order[] =>
  [...listed].sort(byAge).flatMap((object) => {
    const aim = targetOf(object, resource);
    if (aim === undefined || aim.name !== about.metadata.name) return [];
    const { action } = object;
    const { uid } = object.metadata;
    return [{ object, uid, action: typeof action === "string" ? action : "", stale: isStale(object, aim, about) }];
  });

/** Every command of a namespace, for nothing in its metadata says whom it is for. */
export const commandsIn = (namespace: string): Looking => ({
  do: "list",
  resource: commands,
  namespace,
  labels: {},
  spared: true,
});

const removal = ({ metadata: { name, namespace = "", uid } }: Stored): Effect => ({
  do: "delete",
  ref: { resource: commands, namespace, name },
  uid,
});

/** Commands for an object that is gone: nobody will obey them. */
export const leftover = (uid: string, listed: readonly Stored[]): readonly Effect[] =>
  listed.filter((object) => target.safeParse(object["target"]).data?.uid === uid).map(removal);

/** UIDs that are remembered although their objects have gone: a look that is behind may still show them. */
const longMemory = 16;

/** What is remembered once an order is taken. */
export const remembered = (known: readonly string[] = [], { uid }: Order): string[] => [...known, uid];

/** What need not be remembered any more is what has gone, but for the latest. */
export const recalled = (known: readonly string[] = [], orders: readonly Order[]): string[] => {
  const there = new Set(orders.map(({ uid }) => uid));
  return known.filter((uid, at) => there.has(uid) || at >= known.length - longMemory);
};

export const waitingOrders = (orders: readonly Order[], known: readonly string[] = []): readonly Order[] =>
  orders.filter(({ uid }) => !known.includes(uid));

/** Orders that were taken, and whose objects nobody has asked to go yet. */
export const takenOrders = (orders: readonly Order[], known: readonly string[] = []): readonly Order[] =>
  orders.filter(({ uid, object }) => known.includes(uid) && !isEnding(object));

/** Objects of orders that were taken go. */
export const cleared = (orders: readonly Order[], known: readonly string[] = []): readonly Effect[] =>
  takenOrders(orders, known).map(({ object }) => removal(object));

/** What is told of an order: upstream's words when it is obeyed; what is wrong with it when it is not. */
export const orderWord = ({ action, object, stale }: Order, actions: readonly string[]) => {
  if (stale) {
    const message = `command ${object.metadata.name} (${action}) was for an earlier object of this name`;
    return { type: "Warning", reason: "CommandIssued", message } as const;
  }
  if (actions.includes(action)) {
    const message = `Start to execute command ${action}, and clean it up to make sure executed not more than once.`;
    return { type: "Normal", reason: "CommandIssued", message } as const;
  }
  const message = `command ${object.metadata.name} asks for ${JSON.stringify(action)}, which is not one of ${actions.join(", ")}`;
  return { type: "Warning", reason: "CommandIssued", message } as const;
};

/** Commands as a forwarder sees them: each leads to its target at once. */
export const commandWatch = (resource: Resource): Watch => ({
  resource: commands,
  optional: true,
  errand: true,
  trim: (command) => ({ ...trim(command), target: command["target"], action: command["action"] }),
  ownerName: (command) => targetOf(command, resource)?.name,
  matters: (before) => before === undefined,
  urgent: (before) => before === undefined,
});
