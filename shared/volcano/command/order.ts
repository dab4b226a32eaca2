/**
 * Commands: orders to a job or a queue, each an object of its own. A step saves the UID of a command before it deletes
 * the object, so that each command is carried out once, whenever a step dies.
 */
import * as z from "zod";
import { all, list, type Reads } from "../../core/decision.ts";
import { fieldsOf } from "../../core/json.ts";
import type { Metadata, Obj, Resource, Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import type { Effect, Listing } from "../../core/plan.ts";
import { bytesOf } from "../../core/share.ts";
import { startOf } from "../../core/text.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding } from "../../kube/pods.ts";
import { commands } from "../schema/resource.ts";

const target = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string().catch("") });

type Target = z.infer<typeof target>;

export type Order = {
  readonly object: Stored;
  readonly uid: string;
  readonly action: string;
  /** The command is for another object, which had this one's name. */
  readonly stale: boolean;
};

/** Returns the target of a command; undefined if it is not of this kind. */
const targetOf = (command: Obj, { kind, group }: Resource): Target | undefined => {
  const read = target.safeParse(command["target"]);
  if (!read.success || read.data.kind !== kind) return undefined;
  return read.data.apiVersion.split("/")[0] === group ? read.data : undefined;
};

const createdAt = ({ metadata }: Obj): number => instantOf(metadata.creationTimestamp) ?? 0;

/** Compares UIDs; a command without one is for the object that had the name when the command was created. */
const isStale = (command: Obj, { uid }: Target, about: Stored): boolean =>
  uid === "" ? createdAt(command) < createdAt(about) : uid !== about.metadata.uid;

const byAge = (a: Stored, b: Stored): number =>
  createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1);

/** Returns the listed commands for an object, or for an earlier one of its name; the oldest first. */
export const ordersFor = (about: Stored, resource: Resource, listed: readonly Stored[]): readonly Order[] =>
  [...listed].sort(byAge).flatMap((object) => {
    const aim = targetOf(object, resource);
    if (aim === undefined || aim.name !== about.metadata.name) return [];
    const { action } = object;
    const { uid } = object.metadata;
    return [{ object, uid, action: typeof action === "string" ? action : "", stale: isStale(object, aim, about) }];
  });

/** No name, kind, version or UID of an object is longer. */
const longestText = 253;

const short = (text: unknown): unknown => (typeof text === "string" ? startOf(text, longestText) : text);

/** A command has one owner, its target. */
const mostOwners = 8;
/** A UID has 36 characters. */
const longestUid = 64;

const shortOwners = (owners: NonNullable<Metadata["ownerReferences"]>): NonNullable<Metadata["ownerReferences"]> =>
  owners.slice(0, mostOwners).map(({ apiVersion, kind, name, uid, controller }) => ({
    ...{ apiVersion: startOf(apiVersion, longestText), kind: startOf(kind, longestText) },
    ...{ name: startOf(name, longestText), uid: startOf(uid, longestUid) },
    ...(controller === undefined ? {} : { controller }),
  }));

/** The characters of a list of commands after which it ends. */
const mostText = 8_000_000;

/** The most characters of JSON that a character of a text takes, with room for the rest. */
const perCharacter = 8;

/** Keeps of a command its identity, owners, target, action and size: a watch and each queue's step hold the commands of all tenants. */
export const commandOutline = (whole: Stored): Stored => {
  const { apiVersion, kind, metadata, ...command } = whole;
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences } = metadata;
  const aim = fieldsOf(command["target"]);
  const optional: Partial<Metadata> = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(ownerReferences === undefined ? {} : { ownerReferences: shortOwners(ownerReferences) }),
  };
  return {
    ...{ apiVersion, kind, metadata: { name, uid, resourceVersion, ...optional } },
    target: Object.fromEntries(
      ["apiVersion", "kind", "name", "uid"].flatMap((field) => {
        const text = short(aim[field]);
        return text === undefined ? [] : [[field, text]];
      }),
    ),
    action: short(command["action"]),
    size: bytesOf(whole, mostText),
  };
};

const sizeOf = ({ size }: Stored): number => (typeof size === "number" ? size : 0);

/**
 * Reads the commands of all namespaces, of their text a bounded part: each step of a queue lists them, and tenants write
 * them. All commands of the namespaces whose commands are obeyed are read in any case.
 */
export function* readCommands(obeyed: readonly string[]): Reads<readonly Stored[]> {
  const some = yield* list({ ...commandsIn(""), mostText });
  const isWhole = some.reduce((sum, command) => sum + sizeOf(command), 0) < mostText / perCharacter;
  if (isWhole) return some;
  const ofObeyed = (yield* all(obeyed.map((namespace) => list(commandsIn(namespace))))).flat();
  const taken = new Set(ofObeyed.map(({ metadata }) => metadata.uid));
  return [...ofObeyed, ...some.filter(({ metadata }) => !taken.has(metadata.uid))];
}

/** Lists every command of a namespace, because a command's metadata does not name its target. */
export const commandsIn = (namespace: string): Listing => ({
  do: "list",
  resource: commands,
  namespace,
  labels: {},
  spared: true,
  projecting: () => commandOutline,
});

const removal = ({ metadata: { name, namespace = "", uid } }: Stored): Effect => ({
  do: "delete",
  ref: { resource: commands, namespace, name },
  uid,
});

/** Deletes the commands for an object that is gone. */
export const leftover = (uid: string, listed: readonly Stored[]): readonly Effect[] =>
  listed.filter((object) => target.safeParse(object["target"]).data?.uid === uid).map(removal);

/** UIDs that are remembered although their objects are gone: a stale read may still show them. */
const longMemory = 16;

/** Returns the UIDs to remember once a command is taken. */
export const remembered = (taken: readonly string[] = [], { uid }: Order): string[] => [...taken, uid];

/** Forgets UIDs whose objects are gone, except the latest. */
export const recalled = (taken: readonly string[] = [], orders: readonly Order[]): string[] => {
  const there = new Set(orders.map(({ uid }) => uid));
  return taken.filter((uid, at) => there.has(uid) || at >= taken.length - longMemory);
};

export const waitingOrders = (orders: readonly Order[], taken: readonly string[] = []): readonly Order[] =>
  orders.filter(({ uid }) => !taken.includes(uid));

/** Returns the commands that were taken and whose deletion is not requested yet. */
export const takenOrders = (orders: readonly Order[], taken: readonly string[] = []): readonly Order[] =>
  orders.filter(({ uid, object }) => taken.includes(uid) && !isEnding(object));

/** Deletes the commands that were taken. */
export const cleared = (orders: readonly Order[], taken: readonly string[] = []): readonly Effect[] =>
  takenOrders(orders, taken).map(({ object }) => removal(object));

/** Returns the Event about a command: upstream's words if it is carried out, else what is wrong with it. */
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

/** The watch of Commands: each sends the key of its target at once. */
export const commandWatch = (resource: Resource): Watch => ({
  resource: commands,
  optional: true,
  errand: true,
  trim: commandOutline,
  ownerName: (command) => targetOf(command, resource)?.name,
  matters: (before) => before === undefined,
  urgent: (before) => before === undefined,
});
