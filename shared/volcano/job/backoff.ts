/** Waits between restarts, where a job asks for them: doubling up to a longest, and from the first again after a good run. */

import type { AnnotationPolicies } from "./annotation-policies.ts";
import type { Memory } from "./memory.ts";

type Backoff = NonNullable<Memory["backoff"]>;

/** The wait that a restart begins; `now` in epoch ms. Undefined where none is asked for. */
export const backoffAfter = (
  before: Backoff | undefined,
  { backoffMs, backoffMaxMs, goodRunMs }: Pick<AnnotationPolicies, "backoffMs" | "backoffMaxMs" | "goodRunMs">,
  now: number,
): Backoff | undefined => {
  if (backoffMs === undefined) return undefined;
  const restarts = before !== undefined && now - before.until < goodRunMs ? before.restarts + 1 : 1;
  const waitMs = Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(restarts - 1, 30));
  return { restarts, until: now + Math.max(waitMs, Math.min(backoffMs, backoffMaxMs)) };
};

/** When the restart that a job is in may have its pods; undefined when it may. */
export const heldUntil = ({ phase, backoff }: Pick<Memory, "phase" | "backoff">, now: number): number | undefined =>
  phase === "Restarting" && backoff !== undefined && backoff.until > now ? backoff.until : undefined;
