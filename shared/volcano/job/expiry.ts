/** The end of a finished job's time to live. */
import type { JobSpec } from "../schema/spec.ts";
import type { Phase } from "../schema/words.ts";
import type { Memory } from "./memory.ts";

/** An aborted job waits to be resumed, and so does not expire: as upstream decided. */
const expiring: readonly Phase[] = ["Completed", "Failed", "Terminated"];

/** When the job is to be deleted, epoch ms; undefined when it is not. */
export const expiryOf = (
  { ttlSecondsAfterFinished: ttl }: Pick<JobSpec, "ttlSecondsAfterFinished">,
  { phase, since }: Pick<Memory, "phase" | "since">,
): number | undefined => (ttl === undefined || !expiring.includes(phase) ? undefined : since + ttl * 1_000);
