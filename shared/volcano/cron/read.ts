/** Reads a CronJob's spec as the API server stores it; otherwise returns one message about what to change. */
import { readSchedule, type Schedule, zoneOf } from "../../core/cron.ts";
import type { Stored } from "../../core/object.ts";
import { type ConcurrencyPolicy, readConcurrency } from "../../kube/history.ts";
import type { Json } from "../../kube/responses.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { cronLimits } from "../schema/limits.ts";
import { withoutNulls } from "../schema/spec.ts";
import { cronSpecSchema } from "../schema/workflows.ts";

/** The metadata and the spec of a CronJob's jobs. */
export type Template = {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Json;
};

/** The spec of a CronJob, read. The template is passed on unchanged. */
export type Desired = {
  readonly schedule: Schedule;
  /** IANA name; "" is UTC. */
  readonly timeZone: string;
  readonly template: Template;
  readonly suspended: boolean;
  readonly policy: ConcurrencyPolicy;
  readonly deadlineMs: number | undefined;
  /** Numbers of finished jobs that are kept; undefined: all. */
  readonly keep: { readonly successful: number | undefined; readonly failed: number | undefined };
  /** The schedule names a time zone itself, which upstream warns of. */
  readonly ownZone: boolean;
};

/** `reason` is the reason of the Event. */
export type Read =
  | { readonly ok: true; readonly desired: Desired }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** A job is named after its CronJob, a dash, and the minutes since 1970: at most 63 characters. */
export const longestName = 52;

const wrong = (reason: string, message: string): Read => ({ ok: false, reason, message });

type Spec = ReturnType<typeof cronSpecSchema.parse>;

const templateOf = ({ jobTemplate: { metadata = {}, spec = {} } }: Spec): Template => ({
  labels: metadata.labels ?? {},
  annotations: metadata.annotations ?? {},
  spec,
});

const desired = (spec: Spec, schedule: Schedule, policy: ConcurrencyPolicy): Desired => ({
  schedule,
  policy,
  timeZone: spec.timeZone ?? "",
  template: templateOf(spec),
  suspended: spec.suspend === true,
  deadlineMs: spec.startingDeadlineSeconds === undefined ? undefined : spec.startingDeadlineSeconds * 1_000,
  keep: { successful: spec.successfulJobsHistoryLimit, failed: spec.failedJobsHistoryLimit },
  ownZone: spec.schedule.includes("TZ"),
});

/** Shortens a text for a message. */
const shown = (text: string): string => (text.length <= 256 ? text : `${text.slice(0, 256)}…`);

export const readCronSpec = (object: Stored): Read => {
  const beyond = cronLimits(object["spec"]);
  if (beyond !== "") return wrong("InvalidSpec", beyond);
  const parsed = cronSpecSchema.safeParse(withoutNulls(object["spec"] ?? {}), reportingInput);
  if (!parsed.success) return wrong("InvalidSpec", explain(parsed.error));
  const { name } = object.metadata;
  if (name.length > longestName)
    return wrong("InvalidSpec", `metadata.name is ${name.length} characters long: shorten it to ${longestName}`);
  const { schedule: text, timeZone = "", concurrencyPolicy = "" } = parsed.data;
  const concurrency = readConcurrency(concurrencyPolicy);
  if (!concurrency.ok) return wrong("InvalidSpec", concurrency.error);
  if (zoneOf(timeZone) === undefined)
    return wrong(
      "InvalidTimeZone",
      `Invalid time zone ${JSON.stringify(shown(timeZone))}: name one like Europe/Berlin`,
    );
  const read = readSchedule(text, timeZone);
  return read.ok
    ? { ok: true, desired: desired(parsed.data, read.schedule, concurrency.policy) }
    : wrong("UnParseableCronJobSchedule", `unparseable schedule for cronjob: ${shown(text)} (${read.error})`);
};
