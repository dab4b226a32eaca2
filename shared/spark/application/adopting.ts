/** The first memory of an application: nothing yet, or what another controller wrote into its status. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { adoptedUid } from "./evidence.ts";
import { type Memory, normaliser, type Phase, type State } from "./memory.ts";

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

const stateFrom = (phase: string, endedAt: number, error: string): State => {
  switch (phase) {
    case "SUCCEEDING":
    case "COMPLETED":
      return { phase, endedAt };
    case "FAILED":
      return { phase, endedAt, error };
    case "FAILING":
    case "SUBMISSION_FAILED":
      return { phase, endedAt, error, retryAt: endedAt };
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
export const adopted = (object: Stored, spec: string): Memory => {
  const first = blank(object.metadata.generation ?? 0, spec);
  const parsed = status.safeParse(object["status"]);
  if (!parsed.success || parsed.data.applicationState.state === "") return first;
  const { data } = parsed;
  const endedAt = instantOf(data.terminationTime) ?? instantOf(data.lastSubmissionAttemptTime) ?? 0;
  const state = stateFrom(data.applicationState.state, endedAt, data.applicationState.errorMessage ?? "");
  const id = data.submissionID ?? "";
  return {
    ...first,
    attempt: data.submissionAttempts ?? 0,
    submissions: data.submissionAttempts ?? 0,
    executions: data.executionAttempts ?? 0,
    ...(id !== "" && withDriver.has(state.phase) ? { driver: driverFrom(object, data, id) } : {}),
    state,
  };
};
