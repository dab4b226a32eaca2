/** Parses a schedule's spec as stored, or returns one message with the remedy. */
import * as z from "zod";
import { nextAfter, readSchedule, type Schedule } from "../../core/cron/schedule.ts";
import { digestOf, isTooMuch } from "../../core/json.ts";
import { isLabelValue, type Stored } from "../../core/object.ts";
import { explain, telling } from "../../kube/explain.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { scheduleLimits } from "../schema/limits.ts";
import { scheduledSpecSchema } from "../schema/scheduled.ts";
import { longestName } from "./run.ts";

/** A schedule, stored or about to be. */
type Written = { readonly metadata: { readonly name: string }; readonly [field: string]: unknown };

export type Policy = "Allow" | "Forbid" | "Replace";

/** The parsed spec of a schedule. The template is passed on unchanged. */
export type Asked = {
  readonly schedule: Schedule;
  readonly template: Json;
  readonly suspended: boolean;
  readonly policy: Policy;
  readonly keep: { readonly successful: number; readonly failed: number };
};

export type Read = { readonly ok: true; readonly asked: Asked } | { readonly ok: false; readonly reason: string };

/** The template is not checked here: the run that it makes reports its errors. */
const shape = z.looseObject({ ...scheduledSpecSchema.shape, template: z.looseObject({}) });

const policies: Readonly<Record<string, Policy>> = {
  "": "Allow",
  Allow: "Allow",
  Forbid: "Forbid",
  Replace: "Replace",
};

/** The number of runs to keep; upstream's default is 1. */
const kept = (limit: number | undefined): number => Math.max(0, limit ?? 1);

/** Reads `spec.suspend` without the schema: a suspended schedule with an invalid spec stays suspended. */
export const suspends = ({ spec }: Written): boolean => isRecord(spec) && spec["suspend"] === true;

/** Digest of the fields that determine the times of the runs. */
export const timingOf = ({ spec }: Stored): string =>
  isRecord(spec) && !isTooMuch(spec) ? digestOf({ schedule: spec["schedule"], timeZone: spec["timeZone"] }) : "none";

const nameProblem = (name: string): string | undefined => {
  if (name.length > longestName)
    return `metadata.name is ${name.length} characters long: with the time of a run added it must hold 63, so shorten it to ${longestName}`;
  return isLabelValue(name) ? undefined : `metadata.name ${JSON.stringify(name)} cannot stand in a label`;
};

const wrong = (reason: string): Read => ({ ok: false, reason });

/** Parses and checks a spec. `now` only serves to check whether the schedule has a next time. */
export const readScheduleSpec = (object: Written, now: number): Read => {
  const beyond = scheduleLimits(object["spec"]);
  if (beyond !== "") return wrong(beyond);
  const parsed = shape.safeParse(object["spec"], telling);
  if (!parsed.success) return wrong(explain(parsed.error));
  const { schedule: text, timeZone, template, concurrencyPolicy = "", ...spec } = parsed.data;
  const misnamed = nameProblem(object.metadata.name);
  if (misnamed !== undefined) return wrong(misnamed);
  const policy = policies[concurrencyPolicy];
  if (policy === undefined)
    return wrong(`spec.concurrencyPolicy must be Allow, Forbid or Replace, not ${JSON.stringify(concurrencyPolicy)}`);
  const read = readSchedule(text, timeZone);
  if (!read.ok) return wrong(read.error.startsWith("Invalid timezone") ? read.error : `spec.schedule: ${read.error}`);
  if (nextAfter(read.schedule, now) === undefined) return wrong(`spec.schedule: ${JSON.stringify(text)} never comes`);
  const keep = { successful: kept(spec.successfulRunHistoryLimit), failed: kept(spec.failedRunHistoryLimit) };
  return { ok: true, asked: { schedule: read.schedule, template, suspended: suspends(object), policy, keep } };
};
