/** Waits between restarts, where a job asks for them: doubled up to a maximum, and reset by a good run. */

import { backoffOf } from "../../core/backoff.ts";
import type { AnnotationPolicies } from "./annotation-policies.ts";
import type { Memory } from "./memory.ts";

type Backoff = NonNullable<Memory["backoff"]>;

/** Returns the wait that a restart at `now` begins, epoch ms; undefined if the job asks for none. */
export const backoffAfter = (
  before: Backoff | undefined,
  { backoffMs, backoffMaxMs, goodRunMs }: Pick<AnnotationPolicies, "backoffMs" | "backoffMaxMs" | "goodRunMs">,
  now: number,
): Backoff | undefined => {
  if (backoffMs === undefined) return undefined;
  const restarts = before !== undefined && now - before.until < goodRunMs ? before.restarts + 1 : 1;
  const waitMs = backoffOf(restarts - 1, backoffMs, backoffMaxMs);
  return { restarts, until: now + Math.max(waitMs, Math.min(backoffMs, backoffMaxMs)) };
};

/** Returns the instant until which the pods of the current restart wait, epoch ms; undefined if nothing waits. */
export const heldUntil = ({ phase, backoff }: Pick<Memory, "phase" | "backoff">, now: number): number | undefined =>
  phase === "Restarting" && backoff !== undefined && backoff.until > now ? backoff.until : undefined;
