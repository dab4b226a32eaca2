/** The watches of a queue, and of the root queue, under whose key groups of pods are admitted. */
import { fieldsOf, same } from "../../core/json.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed } from "../../kube/pods.ts";
import { trim } from "../../kube/trim.ts";
import { commandWatch } from "../command/order.ts";
import { trimGroup } from "../podgroup/group.ts";
import { podGroups, queues } from "../schema/resource.ts";
import { inherited } from "./action.ts";
import { foundedNames } from "./default-queues.ts";
import { defaultName, rootName, shownState } from "./state/tree.ts";

const trimQueue = (queue: Stored): Stored => ({
  ...trim(queue),
  spec: fieldsOf(queue["spec"]),
  status: { state: fieldsOf(queue["status"])["state"] },
});

const phaseOf = (group: Obj): unknown => fieldsOf(group["status"])["phase"];

/** True if a group may need an admission round: one that was admitted and goes on does not. */
const asks = (group: Obj): boolean => !["Inqueue", "Running", "Unknown"].includes(String(phaseOf(group)));

/** True for a group that is not admitted yet. */
const waits = (group: Obj): boolean => ["undefined", "", "Pending"].includes(String(phaseOf(group)));

const watches: readonly Watch[] = [
  {
    resource: queues,
    trim: trimQueue,
    ownerName: (queue) => queue.metadata.name,
    matters: (before, after) =>
      changed(before, after) ||
      !same(before === undefined ? {} : fieldsOf(before["status"])["state"], fieldsOf(after["status"])["state"]),
  },
  // A queue's spec and state decide about admission, so a change of either sends the root's key.
  {
    resource: queues,
    trim: trimQueue,
    ownerName: () => rootName,
    matters: (before, after) =>
      before === undefined || !same([before["spec"], before["status"]], [after["spec"], after["status"]]),
  },
  // A closing queue waits until its last group is gone.
  {
    resource: podGroups,
    optional: true,
    trim: trimGroup,
    ownerName: (group) => String(fieldsOf(group["spec"])["queue"] ?? defaultName),
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
  // A queue must follow its parent's annotation also when the message about it was lost.
  {
    resource: queues,
    errand: true,
    trim: trimQueue,
    ownerName: (queue) => (inherited(queue, shownState(queue)) === "SyncQueue" ? undefined : queue.metadata.name),
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
