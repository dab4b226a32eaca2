/** What of the world is news to a queue, and to the root, under whose key groups of pods are let in. */
import { same } from "../../core/json.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed } from "../../kube/relevant-change.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { trim } from "../../kube/trim.ts";
import { commandWatch } from "../command/order.ts";
import { trimGroup } from "../podgroup/group.ts";
import { podGroups, queues } from "../resource.ts";
import { inherited } from "./action.ts";
import { foundedNames } from "./default-queues.ts";
import { defaultName, rootName, shownState } from "./tree.ts";

const fieldsOf = (object: Obj, field: string): Json => {
  const { [field]: value } = object;
  return isRecord(value) ? value : {};
};

const trimQueue = (queue: Stored): Stored => ({
  ...trim(queue),
  spec: fieldsOf(queue, "spec"),
  status: { state: fieldsOf(queue, "status")["state"] },
});

const phaseOf = (group: Obj): unknown => fieldsOf(group, "status")["phase"];

/** Groups that were let in and go on ask for nothing more. */
const asks = (group: Obj): boolean => !["Inqueue", "Running", "Unknown"].includes(String(phaseOf(group)));

/** Groups that nobody has let in yet. */
const waits = (group: Obj): boolean => ["undefined", "", "Pending"].includes(String(phaseOf(group)));

const watches: readonly Watch[] = [
  {
    resource: queues,
    trim: trimQueue,
    ownerName: (queue) => queue.metadata.name,
    matters: (before, after) =>
      changed(before, after) ||
      !same(before === undefined ? {} : fieldsOf(before, "status")["state"], fieldsOf(after, "status")["state"]),
  },
  // What a queue may hold, and whether it is open, is the business of who lets groups in.
  {
    resource: queues,
    trim: trimQueue,
    ownerName: () => rootName,
    matters: (before, after) =>
      before === undefined || !same([before["spec"], before["status"]], [after["spec"], after["status"]]),
  },
  // A queue that is being closed waits for its last group to go.
  {
    resource: podGroups,
    optional: true,
    trim: trimGroup,
    ownerName: (group) => String(fieldsOf(group, "spec")["queue"] ?? defaultName),
    matters: () => false,
  },
  {
    resource: podGroups,
    optional: true,
    trim: trimGroup,
    ownerName: () => rootName,
    matters: (before, after) => before === undefined || (phaseOf(before) !== phaseOf(after) && asks(after)),
  },
  // A group that waits is admitted by the root's step, also when the message about it was lost.
  {
    resource: podGroups,
    errand: true,
    optional: true,
    trim: trimGroup,
    ownerName: (group) => (waits(group) ? rootName : undefined),
    matters: () => false,
  },
  // A mark of its parent's waits to be followed, also where nobody was told of it.
  {
    resource: queues,
    errand: true,
    trim: trimQueue,
    ownerName: (queue) => (inherited(queue, shownState(queue)) === "SyncQueue" ? undefined : queue.metadata.name),
    matters: () => false,
  },
  commandWatch(queues),
];

/** A queue as a forwarder knows it. */
export const queueWatcher = {
  kind: queues.kind,
  resource: queues,
  scope: "Cluster",
  optional: true,
  founds: foundedNames,
  watches,
} as const;
