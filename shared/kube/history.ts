/**
 * Kinds that create objects by a schedule, the same for CronJobs and ScheduledSparkApplications: the policy for objects
 * that would run at the same time, the digest of the schedule, the age of what was created, and the deletion of ended
 * objects beyond the limits.
 */
import { digestOf, isRecord, isTooMuch } from "../core/json.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Effect } from "../core/plan.ts";
import { instantOf } from "../core/time.ts";

/** When the object was created, epoch ms. */
export const createdAt = ({ metadata }: Stored): number => instantOf(metadata.creationTimestamp) ?? 0;

type Deletion = Extract<Effect, { do: "delete" }>;

/** Deletes the object by judgement of its state: not if it has changed since. */
export const judgedRemoval = (
  resource: Resource,
  { metadata: { name, namespace, uid, resourceVersion } }: Stored,
): Deletion => ({
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

export type ConcurrencyPolicy = "Allow" | "Forbid" | "Replace";

const policies: Readonly<Record<string, ConcurrencyPolicy>> = {
  "": "Allow",
  Allow: "Allow",
  Forbid: "Forbid",
  Replace: "Replace",
};

type ReadPolicy =
  | { readonly ok: true; readonly policy: ConcurrencyPolicy }
  | { readonly ok: false; readonly error: string };

/** Reads `spec.concurrencyPolicy`; the error is a whole sentence. */
export const readConcurrency = (text: string): ReadPolicy => {
  const policy = policies[text];
  return policy === undefined
    ? { ok: false, error: `spec.concurrencyPolicy must be Allow, Forbid or Replace, not ${JSON.stringify(text)}` }
    : { ok: true, policy };
};

/** Returns a digest of the fields that determine the times. */
export const timingOf = ({ spec }: Stored): string =>
  isRecord(spec) && !isTooMuch(spec) ? digestOf({ schedule: spec["schedule"], timeZone: spec["timeZone"] }) : "none";
