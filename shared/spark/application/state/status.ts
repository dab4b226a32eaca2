/** The upstream status, projected from the memory and the pods. */
import * as z from "zod";
import { oncePer } from "../../../core/memoize.ts";
import type { Stored } from "../../../core/object.ts";
import { instantOf, timeText } from "../../../core/time.ts";
import type { Pods } from "./evidence.ts";
import { endsIn, executorStates } from "./executor-states.ts";
import type { Driver, Memory } from "./memory.ts";

/** The fields that are read back from a status. Any controller may have written it, so each field is checked. */
const before = z.looseObject({
  submissionID: z.string().optional().catch(undefined),
  lastSubmissionAttemptTime: z.string().optional().catch(undefined),
  executorState: z.record(z.string(), z.string()).optional().catch(undefined),
  driverInfo: z.looseObject({}).optional().catch(undefined),
  applicationState: z
    .looseObject({ state: z.string().catch("") })
    .optional()
    .catch(undefined),
});

const statusOf = oncePer((object: Stored): z.infer<typeof before> => {
  const { data = {} } = before.safeParse(object["status"] ?? {});
  return data;
});

/** The executor states in the status, if the status is about this run; else none. */
export const shownExecutors = (object: Stored, driver: Driver | undefined): Readonly<Record<string, string>> => {
  const { submissionID, executorState = {} } = statusOf(object);
  return submissionID === driver?.submissionId ? executorState : {};
};

/** The submission id of the status. */
export const shownSubmission = (object: Stored): string | undefined => statusOf(object).submissionID;

/** The state of the status. */
export const shownState = (object: Stored): string => statusOf(object).applicationState?.state ?? "";

/**
 * True when the status shows the record's state. A record may come to the same state twice, with a driver each: the
 * status of the first does not show the second.
 */
export const showsRecord = (object: Stored, { state, driver }: Pick<Memory, "state" | "driver">): boolean =>
  shownState(object) === state.phase && (driver === undefined || showsSubmission(object, driver));

const errorOf = (memory: Memory): string | undefined => ("error" in memory.state ? memory.state.error : undefined);

/** Submission time of the newest attempt, epoch ms: upstream derives the time of the next one from it. */
const submittedAt = ({ driver, state, submissions }: Memory, shown: string | undefined): number | undefined => {
  if (driver !== undefined) return driver.submittedAt;
  if (state.phase === "SUBMISSION_FAILED") return state.endedAt;
  return submissions === 0 ? undefined : instantOf(shown);
};

export type Known = {
  /** Undefined while nothing has been submitted. */
  readonly pods: Pods | undefined;
  /** New fields for `driverInfo`; the fields that the status already shows of this run stay. */
  readonly info?: Readonly<Record<string, unknown>> | undefined;
  /** The highest executor id that the status names. */
  readonly limit: number;
};

/** The status's `driverInfo`, if it is about this driver; else empty. */
export const shownInfo = (object: Stored, driver: Driver | undefined): Readonly<Record<string, unknown>> => {
  const { submissionID, driverInfo } = statusOf(object);
  return submissionID === driver?.submissionId ? (driverInfo ?? {}) : {};
};

/** States that a status shows only after a step that saw a begun driver came to its end. */
const begun: ReadonlySet<string> = new Set(["RUNNING", "SUCCEEDING", "FAILING", "COMPLETED", "FAILED"]);

/** True when the status shows that this driver has begun. */
export const showsBegun = (object: Stored, driver: Driver): boolean =>
  statusOf(object).submissionID === driver.submissionId && begun.has(shownState(object));

/** True when the status shows that this driver was submitted: a step writes the status after all its effects. */
export const showsSubmission = (object: Stored, driver: Driver): boolean =>
  statusOf(object).submissionID === driver.submissionId;

type Projected = Readonly<Record<string, unknown>> & { readonly executorState?: Readonly<Record<string, string>> };

/** The whole desired `status`. */
export const projected = (object: Stored, memory: Memory, { pods, info, limit }: Known): Projected => {
  const { driver, state } = memory;
  const error = errorOf(memory);
  const shown = statusOf(object);
  const submitted = submittedAt(memory, shown.lastSubmissionAttemptTime);
  const executors =
    driver === undefined
      ? {}
      : executorStates(pods?.executors ?? [], shownExecutors(object, driver), {
          phase: state.phase,
          limit,
          ends: endsIn(memory.executors?.attempt === driver.attempt ? memory.executors : {}),
        });
  return {
    applicationState: { state: state.phase, ...(error === undefined ? {} : { errorMessage: error }) },
    driverInfo: driver === undefined ? {} : { ...shownInfo(object, driver), ...info, podName: driver.podName },
    ...(driver?.applicationId === undefined ? {} : { sparkApplicationId: driver.applicationId }),
    ...(driver === undefined ? {} : { submissionID: driver.submissionId }),
    ...(submitted === undefined ? {} : { lastSubmissionAttemptTime: timeText(submitted) }),
    submissionAttempts: memory.submissions,
    executionAttempts: memory.executions,
    ...(Object.keys(executors).length === 0 ? {} : { executorState: executors }),
    ...(hasEnded(memory) ? { terminationTime: timeText(memory.state.endedAt) } : {}),
  };
};

type Ended = Memory & { readonly state: { readonly endedAt: number } };

const hasEnded = (memory: Memory): memory is Ended =>
  "endedAt" in memory.state && memory.state.phase !== "SUBMISSION_FAILED";
