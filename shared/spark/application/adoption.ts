/** The first memory of an application: blank, or taken over from another controller's status and pods. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { labelOf, ownedBy } from "../../kube/pods.ts";
import { type RestartPolicy, retryAfterFailure, retryAfterRefusal } from "./run/retry.ts";
import { adoptedUid, alive, submissionLabel } from "./state/evidence.ts";
import { type Driver, type Memory, normaliser, type Phase, type State } from "./state/memory.ts";

export const blank = (generation: number, spec: string): Memory => ({
  generation,
  spec,
  normaliser,
  attempt: 0,
  submissions: 0,
  executions: 0,
  state: { phase: "" },
});

const status = z.looseObject({
  applicationState: z.looseObject({ state: z.string(), errorMessage: z.string().nullish() }),
  driverInfo: z.looseObject({ podName: z.string().optional() }).nullish(),
  submissionID: z.string().nullish(),
  sparkApplicationId: z.string().nullish(),
  submissionAttempts: z.number().int().nullish(),
  executionAttempts: z.number().int().nullish(),
  lastSubmissionAttemptTime: z.string().nullish(),
  terminationTime: z.string().nullish(),
});

type Status = z.infer<typeof status>;

type End = {
  readonly endedAt: number;
  readonly error: string;
  readonly retries: { readonly afterFailure: number | undefined; readonly afterRefusal: number | undefined };
};

const endless: End = { endedAt: 0, error: "", retries: { afterFailure: undefined, afterRefusal: undefined } };

type Counts = Pick<Memory, "submissions" | "executions">;

const retrying = (at: number | undefined): { retryAt?: number } => (at === undefined ? {} : { retryAt: at });

const stateFrom = (phase: string, { endedAt, error, retries }: End): State => {
  switch (phase) {
    case "SUCCEEDING":
    case "COMPLETED":
      return { phase, endedAt };
    case "FAILED":
      return { phase, endedAt, error };
    case "FAILING":
      return { phase, endedAt, error, ...retrying(retries.afterFailure) };
    case "SUBMISSION_FAILED":
      return { phase, endedAt, error, ...retrying(retries.afterRefusal) };
    case "RUNNING":
    case "UNKNOWN":
    case "INVALIDATING":
    case "PENDING_RERUN":
    case "SUSPENDING":
    case "SUSPENDED":
    case "RESUMING":
    case "SUBMITTED":
      return { phase };
    default:
      return { phase: "" };
  }
};

/** Phases in which the status names a driver. */
const withDriver: ReadonlySet<Phase> = new Set([
  "SUBMITTED",
  "RUNNING",
  "UNKNOWN",
  "SUCCEEDING",
  "FAILING",
  "INVALIDATING",
  "SUSPENDING",
  "COMPLETED",
  "FAILED",
]);

/** Phases that mean nothing without a driver: leftovers are cleared before the next submission. */
const runs: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

/** Phases in which upstream submits before it writes the status: it may have died in between (its issue 2788). */
const submitting: ReadonlySet<Phase> = new Set(["SUBMISSION_FAILED", "PENDING_RERUN", "RESUMING"]);

const endOf = (seen: Status, counts: Counts, policy: RestartPolicy): End => {
  const submittedAt = instantOf(seen.lastSubmissionAttemptTime) ?? 0;
  const counters = { ...counts, submittedAt };
  return {
    endedAt: instantOf(seen.terminationTime) ?? submittedAt,
    error: seen.applicationState.errorMessage ?? "",
    retries: {
      afterFailure: retryAfterFailure(policy, counters),
      afterRefusal: retryAfterRefusal(policy, counters),
    },
  };
};

const driverFrom = (object: Stored, seen: Status, submissionId: string): Driver => ({
  attempt: seen.submissionAttempts ?? 1,
  submissionId,
  ...(seen.sparkApplicationId ? { applicationId: seen.sparkApplicationId } : {}),
  podName: seen.driverInfo?.podName || `${object.metadata.name}-driver`,
  submittedAt: instantOf(seen.lastSubmissionAttemptTime) ?? 0,
  uid: adoptedUid,
});

/** The status of a run that was begun, or undefined when the status shows none. */
const statusOf = (object: Stored): Status | undefined => {
  const parsed = status.safeParse(object["status"]);
  return parsed.success && parsed.data.applicationState.state !== "" ? parsed.data : undefined;
};

/** True when a driver may run that the status does not name: the first memory is then made from the pods as well. */
export const mayHideDriver = (object: Stored): boolean => {
  const seen = statusOf(object);
  if (seen === undefined) return false;
  const { phase } = stateFrom(seen.applicationState.state, endless);
  return submitting.has(phase) || (runs.has(phase) && !seen.submissionID);
};

/** Returns the application's newest driver pod that is not being deleted and is not the driver of the status. */
export const hiddenDriver = (object: Stored, known: string, pods: readonly Stored[]): Stored | undefined =>
  alive(pods)
    .filter((pod) => ownedBy(pod, object.metadata.uid) && labelOf(pod, "spark-role") === "driver")
    .filter((pod) => ![undefined, "", known].includes(labelOf(pod, submissionLabel)))
    .sort((a, b) => (instantOf(b.metadata.creationTimestamp) ?? 0) - (instantOf(a.metadata.creationTimestamp) ?? 0))[0];

/** Builds the run of a driver that was submitted and never written down. Rekindle's own pods carry their attempt. */
export const runOf = (
  pod: Stored,
  counts: Counts,
): Pick<Memory, "attempt" | "submissions" | "executions" | "driver"> => {
  const attempt = Math.max(counts.submissions, Number(labelOf(pod, "rekindle.dev/attempt") ?? 0), 1);
  const applicationId = labelOf(pod, "spark-app-selector");
  const { name: podName, uid, creationTimestamp } = pod.metadata;
  const driver = {
    ...{ attempt, podName, uid, submittedAt: instantOf(creationTimestamp) ?? 0 },
    submissionId: labelOf(pod, submissionLabel) ?? "",
    ...(applicationId === undefined ? {} : { applicationId }),
  };
  return { attempt, submissions: counts.submissions, executions: counts.executions, driver };
};

/** The counts that upstream would have written, had it not died before its status write. */
const counted = ({ submissions, executions }: Counts, phase: Phase): Counts =>
  submitting.has(phase)
    ? { submissions: submissions + 1, executions: executions + 1 }
    : { submissions: Math.max(1, submissions), executions: Math.max(1, executions) };

/**
 * Makes the first memory. A run that upstream's controller left is adopted, with no delete and no restart. Attempts
 * continue upstream's count, so that no driver's identity is handed out twice. `pods` are the pods with the
 * application's name; they are needed when `mayHideDriver` is true.
 */
export const adopted = (object: Stored, spec: string, policy: RestartPolicy, pods: readonly Stored[] = []): Memory => {
  const first = blank(object.metadata.generation ?? 0, spec);
  const seen = statusOf(object);
  if (seen === undefined) return first;
  const counts = { submissions: seen.submissionAttempts ?? 0, executions: seen.executionAttempts ?? 0 };
  const id = seen.submissionID ?? "";
  const shown = stateFrom(seen.applicationState.state, endOf(seen, counts, policy));
  const hidden = mayHideDriver(object) ? hiddenDriver(object, id, pods) : undefined;
  if (hidden !== undefined)
    return { ...first, ...runOf(hidden, counted(counts, shown.phase)), state: { phase: "SUBMITTED" } };
  const state: State = id === "" && runs.has(shown.phase) ? { phase: "PENDING_RERUN" } : shown;
  const driver = id !== "" && withDriver.has(state.phase) ? { driver: driverFrom(object, seen, id) } : {};
  return { ...first, attempt: counts.submissions, ...counts, ...driver, state };
};
