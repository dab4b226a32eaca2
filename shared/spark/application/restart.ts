/** When a run is tried again, and how long that waits: upstream's restart policies. */
import type { Memory } from "./memory.ts";

/** `spec.restartPolicy`, as far as it was set; intervals in seconds. */
export type RestartPolicy = {
  readonly type?: string | undefined;
  readonly onFailureRetries?: number | undefined;
  readonly onFailureRetryInterval?: number | undefined;
  readonly onSubmissionFailureRetries?: number | undefined;
  readonly onSubmissionFailureRetryInterval?: number | undefined;
};

/** Upstream's defaulting webhook sets this many seconds. */
const defaultInterval = 5;

type Counters = Pick<Memory, "submissions" | "executions"> & { readonly submittedAt: number };

/** The interval grows with the attempts and counts from the start of the failed one, as upstream's. Epoch ms. */
const due = (counters: Counters, seconds: number | undefined): number =>
  counters.submittedAt + (seconds ?? defaultInterval) * 1_000 * Math.max(1, counters.submissions);

/** When a failed run is run again, epoch ms; undefined when it is not. */
export const retryAfterFailure = (policy: RestartPolicy, counters: Counters): number | undefined => {
  const at = due(counters, policy.onFailureRetryInterval);
  if (policy.type === "Always") return at;
  const tries = policy.onFailureRetries ?? 0;
  return policy.type === "OnFailure" && tries > 0 && counters.executions <= tries ? at : undefined;
};

/** When a refused submission is submitted again, epoch ms; undefined when it is not. */
export const retryAfterRefusal = (policy: RestartPolicy, counters: Counters): number | undefined => {
  const at = due(counters, policy.onSubmissionFailureRetryInterval);
  if (policy.type === "Always") return at;
  const tries = policy.onSubmissionFailureRetries ?? 0;
  return policy.type === "OnFailure" && tries > 0 && counters.submissions <= tries ? at : undefined;
};
