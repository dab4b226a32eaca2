/** The time of a run's retry: upstream's restart policies, and the annotations that extend them. */
import { backoffOf } from "../../../core/time.ts";
import type { Policies } from "../spec/policies.ts";
import type { Memory } from "../state/memory.ts";

/** `spec.restartPolicy`, as far as it is set; intervals in seconds. */
export type RestartPolicy = {
  readonly type?: string | undefined;
  readonly onFailureRetries?: number | undefined;
  readonly onFailureRetryInterval?: number | undefined;
  readonly onSubmissionFailureRetries?: number | undefined;
  readonly onSubmissionFailureRetryInterval?: number | undefined;
};

/** The default of upstream's webhook, seconds. */
const defaultInterval = 5;

type Counters = Pick<Memory, "submissions" | "executions"> & { readonly submittedAt: number };

/** The interval grows with the attempts and counts from the start of the failed one, as upstream's. Epoch ms. */
const due = (counters: Counters, seconds: number | undefined): number =>
  counters.submittedAt + (seconds ?? defaultInterval) * 1_000 * Math.max(1, counters.submissions);

/** The time at which a failed run is run again, epoch ms; undefined when it is not. */
export const retryAfterFailure = (policy: RestartPolicy, counters: Counters): number | undefined => {
  const at = due(counters, policy.onFailureRetryInterval);
  if (policy.type === "Always") return at;
  const tries = policy.onFailureRetries ?? 0;
  return policy.type === "OnFailure" && tries > 0 && counters.executions <= tries ? at : undefined;
};

/** The time at which a refused submission is submitted again, epoch ms; undefined when it is not. */
export const retryAfterRefusal = (policy: RestartPolicy, counters: Counters): number | undefined => {
  const at = due(counters, policy.onSubmissionFailureRetryInterval);
  if (policy.type === "Always") return at;
  const tries = policy.onSubmissionFailureRetries ?? 0;
  return policy.type === "OnFailure" && tries > 0 && counters.submissions <= tries ? at : undefined;
};

export type Failure = Counters & {
  readonly endedAt: number;
  /** Failures in a row, this one among them. */
  readonly failures: number;
  /** Failed runs that spent no retry. */
  readonly forgiven: number;
  /** True when this failure spends no retry. */
  readonly free: boolean;
};

type BackoffPolicies = Pick<Policies, "backoff" | "backoffMaxMs">;

/** The interval doubles with every failure in a row, and counts from the end of the last. Epoch ms. */
const doubled = ({ endedAt, failures }: Failure, seconds: number | undefined, mostMs: number): number =>
  endedAt + backoffOf(failures - 1, (seconds ?? defaultInterval) * 1_000, mostMs);

/** The next run's time, epoch ms, if any. A failure that spends no retry always waits the doubled interval. */
export const nextRun = (policy: RestartPolicy, policies: BackoffPolicies, failure: Failure): number | undefined => {
  const { executions, forgiven, free } = failure;
  const wait = doubled(failure, policy.onFailureRetryInterval, policies.backoffMaxMs);
  if (free) return wait;
  const at = retryAfterFailure(policy, { ...failure, executions: executions - forgiven });
  return at === undefined || policies.backoff === "linear" ? at : wait;
};

export const nextSubmission = (
  policy: RestartPolicy,
  policies: BackoffPolicies,
  failure: Failure,
): number | undefined => {
  const at = retryAfterRefusal(policy, failure);
  if (at === undefined || policies.backoff === "linear") return at;
  return doubled(failure, policy.onSubmissionFailureRetryInterval, policies.backoffMaxMs);
};
