/**
 * The watches of a queue, and of the root queue, under whose key groups of pods are admitted; and the queues root and
 * default, which upstream's scheduler creates and, without it, Rekindle.
 */

import { fieldsOf, same } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import type { Effect } from "../../core/plan.ts";
import { changed } from "../../kube/pods.ts";
import { roomKey, wantedKey } from "../../kube/queue-room.ts";
import { trim } from "../../kube/trim.ts";
import { commandWatch } from "../command/order.ts";
import { trimGroup } from "../podgroup/group.ts";
import { podGroups, queues } from "../schema/resource.ts";
import { defaultName, rootName } from "./state/tree.ts";

/** Creates the root or the default queue unless it exists. As volcano scheduler/cache. */
export const creationOf = (name: typeof rootName | typeof defaultName): Extract<Effect, { do: "create" }> => {
  const spec =
    name === rootName ? { weight: 1, reclaimable: false } : { weight: 1, reclaimable: true, parent: rootName };
  const object: Obj = { apiVersion: apiVersionOf(queues), kind: queues.kind, metadata: { name }, spec };
  return { do: "create", object, resource: queues, owner: "", shared: true };
};

/** The queues that every cluster has. */
const foundedNames = [rootName, defaultName] as const;

/**
 * Creates one of these queues. Without the right to do so, or without the kind, the effect is skipped, and a job that
 * needs the queue reports it missing.
 */
export const founding = (name: string): readonly Effect[] =>
  foundedNames.filter((one) => one === name).map((one) => ({ ...creationOf(one), optional: true }));

/** Creates the queues for an object whose queue of this name is missing; users create all other queues. */
export const foundedFor = (name: string | undefined): readonly Effect[] =>
  name === defaultName ? [creationOf(rootName), creationOf(defaultName)] : [];

const trimQueue = (queue: Stored): Stored => ({
  ...trim(queue),
  spec: fieldsOf(queue.spec),
  status: { state: fieldsOf(queue.status)["state"] },
});

const phaseOf = (group: Obj): unknown => fieldsOf(group.status)["phase"];

/** True if a group may need an admission round: one that was admitted and goes on does not. */
const asks = (group: Obj): boolean => !["Inqueue", "Running", "Unknown"].includes(String(phaseOf(group)));

/** True for a group that is not admitted yet. */
const waits = (group: Obj): boolean => ["undefined", "", "Pending"].includes(String(phaseOf(group)));

const roomsOf = ({ metadata: { annotations = {} } }: Obj): unknown => [annotations[roomKey], annotations[wantedKey]];

/** True for a group whose owner wants more pods than its queue has had room for. */
const lacksRoom = ({ metadata: { annotations = {} } }: Obj): boolean => annotations[wantedKey] !== undefined;

/** True if the owner of an admitted group wants more pods than its queue has had room for, or has given room back. */
const hasOtherRoom = (before: Obj, after: Obj): boolean =>
  before.metadata.annotations?.[roomKey] !== undefined && !same(roomsOf(before), roomsOf(after));

const watches: readonly Watch[] = [
  {
    resource: queues,
    trim: trimQueue,
    ownerName: (queue) => queue.metadata.name,
    matters: (before, after) =>
      changed(before, after) ||
      !same(before === undefined ? {} : fieldsOf(before.status)["state"], fieldsOf(after.status)["state"]),
  },
  // A queue's spec and state decide about admission, so a change of either sends the root's key.
  {
    resource: queues,
    trim: trimQueue,
    ownerName: () => rootName,
    matters: (before, after) => before === undefined || !same([before.spec, before.status], [after.spec, after.status]),
  },
  // A closing queue waits until its last group is gone.
  {
    resource: podGroups,
    optional: true,
    trim: trimGroup,
    ownerName: (group) => String(fieldsOf(group.spec)["queue"] ?? defaultName),
    matters: () => false,
  },
  {
    resource: podGroups,
    optional: true,
    trim: trimGroup,
    ownerName: () => rootName,
    matters: (before, after) =>
      before === undefined ||
      (phaseOf(before) !== phaseOf(after) && asks(after) && !(waits(before) && waits(after))) ||
      hasOtherRoom(before, after),
  },
  // A group that waits is admitted, and one of which pods wait gets room, by the root's step, also when the message about it was lost.
  {
    resource: podGroups,
    errand: true,
    optional: true,
    trim: trimGroup,
    ownerName: (group) => (waits(group) || lacksRoom(group) ? rootName : undefined),
    matters: () => false,
  },
  commandWatch(queues),
];

/** The Queue kind as a forwarder needs it. */
export const queueWatcher = {
  kind: queues.kind,
  resource: queues,
  scope: "Cluster",
  optional: true,
  founds: foundedNames,
  watches,
} as const;
