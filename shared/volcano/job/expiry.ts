/** The end of a finished job's time to live. */
import type { JobSpec } from "../schema/spec.ts";
import type { Phase } from "../schema/words.ts";
import type { Memory } from "./memory.ts";

/** Phases in which a job expires. As upstream, an aborted job does not: it waits to be resumed. */
const expiring: readonly Phase[] = ["Completed", "Failed", "Terminated"];

/** Returns the instant at which the job is to be deleted, epoch ms; undefined if it does not expire. */
export const expiryOf = (
  { ttlSecondsAfterFinished: ttl }: Pick<JobSpec, "ttlSecondsAfterFinished">,
  { phase, since }: Pick<Memory, "phase" | "since">,
): number | undefined => (ttl === undefined || !expiring.includes(phase) ? undefined : since + ttl * 1_000);
