/**
 * The history of a kind that creates objects by a schedule, the same for CronJobs and ScheduledSparkApplications: the age
 * of what it created, and the deletion of ended objects beyond the limits.
 */
import type { Resource, Stored } from "../core/object.ts";
import type { Effect } from "../core/plan.ts";
import { instantOf } from "../core/time.ts";

/** When the object was created, epoch ms. */
export const createdAt = ({ metadata }: Stored): number => instantOf(metadata.creationTimestamp) ?? 0;

/** Deletes the object by judgement of its state: not if it has changed since. */
export const judgedRemoval = (
  resource: Resource,
  { metadata: { name, namespace, uid, resourceVersion } }: Stored,
): Effect => ({
  do: "delete",
  ref: { resource, name, ...(namespace === undefined ? {} : { namespace }) },
  uid,
  resourceVersion,
});

/**
 * Returns when all of the objects may be deleted, epoch ms; -Infinity for none. No object is deleted before `settledMs`
 * have passed since its creation: until then a slow step could create it again.
 */
export const settledAt = (objects: readonly Stored[], settledMs: number): number =>
  Math.max(...objects.map((object) => createdAt(object) + settledMs));

/** Sorts the objects beyond the limits of a history: those to delete now; `again`: when the next may be, epoch ms. */
export const prunedAt = (
  excess: readonly Stored[],
  settledMs: number,
  now: number,
): { readonly due: readonly Stored[]; readonly again: number } => ({
  due: excess.filter((object) => createdAt(object) + settledMs <= now),
  again: Math.min(...excess.map((object) => createdAt(object) + settledMs).filter((at) => at > now)),
});
