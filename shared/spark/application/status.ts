/** The status that upstream's users know, projected from the memory and the pods; and the events that go with it. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { instantOf, timeText } from "../../core/time.ts";
import type { Pods } from "./evidence.ts";
import { executorStates } from "./executors.ts";
import { told } from "./machine.ts";
import type { Driver, Memory } from "./memory.ts";
import { sparkApplications } from "./resource.ts";

/** What is read back of a status: who wrote it does not matter, so nothing but strings is believed. */
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

const statusOf = (object: Stored): z.infer<typeof before> => {
  const parsed = before.safeParse(object["status"] ?? {});
  return parsed.success ? parsed.data : {};
};

/** The state that the object shows now. */
export const shownState = (object: Stored): string => statusOf(object).applicationState?.state ?? "";

const errorOf = (memory: Memory): string | undefined => ("error" in memory.state ? memory.state.error : undefined);

/** When the newest attempt was submitted, epoch ms: upstream needs it to know when the next one is due. */
const submittedAt = ({ driver, state, submissions }: Memory, shown: string | undefined): number | undefined => {
  if (driver !== undefined) return driver.submittedAt;
  if (state.phase === "SUBMISSION_FAILED") return state.endedAt;
  return submissions === 0 ? undefined : instantOf(shown);
};

export type Known = {
  /** Undefined while nothing has been submitted. */
  readonly pods: Pods | undefined;
  /** What was learned for `driverInfo`; what the status says of this run already stays. */
  readonly info?: Readonly<Record<string, unknown>> | undefined;
  /** So many executors are told of. */
  readonly limit: number;
};

/** What `driverInfo` says of this driver; nothing, if it is still about another. */
export const shownInfo = (object: Stored, driver: Driver | undefined): Readonly<Record<string, unknown>> => {
  const { submissionID, driverInfo } = statusOf(object);
  return submissionID === driver?.submissionId ? (driverInfo ?? {}) : {};
};

/** The whole `status`, as it should be. */
export const projected = (object: Stored, memory: Memory, { pods, info, limit }: Known): Record<string, unknown> => {
  const { driver, state } = memory;
  const error = errorOf(memory);
  const shown = statusOf(object);
  const sameRun = shown.submissionID === driver?.submissionId;
  const known = sameRun ? (shown.executorState ?? {}) : {};
  const submitted = submittedAt(memory, shown.lastSubmissionAttemptTime);
  const executors = driver === undefined ? {} : executorStates(pods?.executors ?? [], known, state.phase, limit);
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

/** The event of a phase, for as long as the status does not show the phase: a death in between loses nothing. */
export const events = (object: Stored, memory: Memory): readonly Effect[] => {
  const event = told[memory.state.phase];
  if (event === undefined || shownState(object) === memory.state.phase) return [];
  const detail = errorOf(memory);
  const name = object.metadata.name;
  const message = `SparkApplication ${name}: ${event.message}${detail === undefined ? "" : `: ${detail}`}`;
  return [
    {
      do: "record",
      about: object,
      resource: sparkApplications,
      occasion: `${memory.generation} ${memory.attempt}`,
      type: event.type,
      reason: event.reason,
      message,
    },
  ];
};
