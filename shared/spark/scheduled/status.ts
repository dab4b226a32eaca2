/** The upstream status, projected from the memory and the runs that are kept. */
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { isRecord } from "../../kube/responses.ts";
import type { Memory } from "./memory.ts";
import { scheduledSparkApplications } from "./resource.ts";

export type Kept = { readonly successful: readonly Stored[]; readonly failed: readonly Stored[] };

const namesOf = (runs: readonly Stored[]): readonly string[] => runs.map(({ metadata }) => metadata.name);

const listed = (field: string, runs: readonly Stored[]): Readonly<Record<string, unknown>> =>
  runs.length === 0 ? {} : { [field]: namesOf(runs) };

/** The whole desired `status`. `invalid`: the error of the spec. */
export const projected = (memory: Memory, kept: Kept, invalid: string | undefined): Record<string, unknown> => {
  const last = memory.starting ?? memory.lastRun;
  const reason = invalid ?? memory.refusal;
  return {
    scheduleState: invalid === undefined ? "Scheduled" : "FailedValidation",
    ...(reason === undefined ? {} : { reason }),
    ...(memory.nextRun === undefined ? {} : { nextRun: timeText(memory.nextRun) }),
    ...(last === undefined ? {} : { lastRun: timeText(last.at), lastRunName: last.name }),
    ...listed("pastSuccessfulRunNames", kept.successful),
    ...listed("pastFailedRunNames", kept.failed),
  };
};

/** The event of `status.reason`, until the status shows it. */
export const warning = (object: Stored, status: Readonly<Record<string, unknown>>): readonly Effect[] => {
  const shown = isRecord(object["status"]) ? object["status"]["reason"] : undefined;
  const { reason: message, scheduleState } = status;
  if (typeof message !== "string" || shown === message) return [];
  const about = { do: "record", about: object, resource: scheduledSparkApplications, type: "Warning" } as const;
  const reason = scheduleState === "Scheduled" ? "RunRefused" : "FailedValidation";
  const occasion = `${object.metadata.generation ?? 0} ${message}`;
  return [{ ...about, occasion, reason: `ScheduledSparkApplication${reason}`, message }];
};
