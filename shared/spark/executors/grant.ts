/**
 * The executors that a run is granted, beside those that it wants: by a ResourceQuota, which answers 403 to the next
 * one, or by any other part that counts what a namespace or a queue may use. Without a grant there is no limit.
 */
import * as z from "zod";
import { backoffOf } from "../../core/time.ts";
import { instant } from "../../kube/schema.ts";

export const grantShape = z.object({
  /** The number of executors that lived when the next one was refused. */
  executors: z.int().min(0),
  /** The time when one more is tried, epoch ms: nothing tells when a quota has room again. */
  until: instant,
  /** Refusals in a row. */
  times: z.int().min(1),
  /** The refusal, in the server's words. */
  why: z.string().max(300),
});

export type Grant = z.infer<typeof grantShape>;

const firstWaitMs = 5_000;
const longestWaitMs = 60_000;

/** The grant after a refusal. */
export const refusedGrant = (before: Grant | undefined, executors: number, why: string, now: number): Grant => {
  const times = (before?.times ?? 0) + 1;
  const until = now + backoffOf(times - 1, firstWaitMs, longestWaitMs);
  return { executors, until, times: Math.min(times, 100), why: why.slice(0, 300) };
};

/** The grant after a look: more executors than it names, or as many as are wanted, end it. */
export const grantAfterLook = (grant: Grant | undefined, living: number, wanted: number): Grant | undefined =>
  grant === undefined || living > grant.executors || living >= wanted ? undefined : grant;

/** The most executors that may live now: the least of all grants, and one more where one is to be tried. */
export const grantedAt = (grants: readonly (Grant | undefined)[], now: number): number =>
  grants.reduce(
    (least, grant) => (grant === undefined ? least : Math.min(least, grant.executors + (now < grant.until ? 0 : 1))),
    Number.POSITIVE_INFINITY,
  );
