/** The first memory of an application: nothing yet, or what another controller wrote into its status. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { adoptedUid } from "./evidence.ts";
import { type Memory, normaliser, type Phase, type State } from "./memory.ts";
import { type RestartPolicy, retryAfterFailure, retryAfterRefusal } from "./restart.ts";

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

/** Phases in which a driver is known by the status. */
const withDriver: ReadonlySet<Phase> = new Set([
  "SUBMITTED",
  "RUNNING",
  "UNKNOWN",
  "SUCCEEDING",
  "FAILING",
  "COMPLETED",
  "FAILED",
]);

/** Phases that say nothing without a driver: what they left is cleared before a run of our own begins. */
const runs: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

const endOf = (seen: Status, counts: Pick<Memory, "submissions" | "executions">, policy: RestartPolicy): End => {
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

const driverFrom = (object: Stored, seen: Status, submissionId: string) => ({
  attempt: seen.submissionAttempts ?? 1,
  submissionId,
  ...(seen.sparkApplicationId ? { applicationId: seen.sparkApplicationId } : {}),
  podName: seen.driverInfo?.podName ?? `${object.metadata.name}-driver`,
  submittedAt: instantOf(seen.lastSubmissionAttemptTime) ?? 0,
  uid: adoptedUid,
});

/**
 * Seeds the memory once, from the status that is there: what upstream's controller left running is adopted, with no
 * delete and no restart. Attempts are counted on from its, so that no driver's identity is handed out twice.
 */
export const adopted = (object: Stored, spec: string, policy: RestartPolicy): Memory => {
  const first = blank(object.metadata.generation ?? 0, spec);
  const parsed = status.safeParse(object["status"]);
  if (!parsed.success || parsed.data.applicationState.state === "") return first;
  const { data } = parsed;
  const counts = { submissions: data.submissionAttempts ?? 0, executions: data.executionAttempts ?? 0 };
  const id = data.submissionID ?? "";
  const told = stateFrom(data.applicationState.state, endOf(data, counts, policy));
  const state: State = id === "" && runs.has(told.phase) ? { phase: "PENDING_RERUN" } : told;
  const driver = id !== "" && withDriver.has(state.phase) ? { driver: driverFrom(object, data, id) } : {};
  return { ...first, attempt: counts.submissions, ...counts, ...driver, state };
};
