/** The rules by which admission refuses a CronJob: upstream's, with its words. */
import { readSchedule, zoneOf } from "../../core/cron.ts";
import { withoutNulls } from "../../core/json.ts";
import { qualifiedNameErrors } from "../../kube/names.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { cronSpecSchema } from "../schema/workflows.ts";
import { longestName } from "./read.ts";

const shape = cronSpecSchema.partial();

const scheduleSaying = (schedule: string): string => {
  if (schedule === "") return " schedule is required, but got empty";
  if (schedule.includes("TZ"))
    return " schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field";
  return readSchedule(schedule).ok ? "" : "schedule is not a valid cron expression";
};

const isPart = (part: string): boolean =>
  part !== "." && part !== ".." && !part.startsWith("-") && /^[A-Za-z.\-_0-9+]{1,14}$/.test(part);

const zoneSaying = (zone: string | undefined): string => {
  if (zone === undefined) return "";
  if (zone === "") return " timeZone must be nil or non-empty string, got empty string";
  const unknown = zone
    .split("/")
    .filter((part) => !isPart(part))
    .map(() => " unknown timeZone")
    .join("");
  if (zone.toLowerCase() === "local")
    return `${unknown} timeZone can't be Local, and must be defined in https://www.iana.org/time-zones`;
  return zoneOf(zone) === undefined ? `${unknown} invalid timeZone` : unknown;
};

const nameSaying = (name: string): string => {
  if (name.length > longestName)
    return `cronJob name must be no more than ${longestName} characters to accommodate job name suffix (max 63 total)`;
  const errors = qualifiedNameErrors(name);
  return errors.length === 0 ? "" : `invalid cronJob name ${JSON.stringify(name)}: ${errors.join("; ")}`;
};

/** Returns why the CronJob is refused; empty if it may be stored. */
export const cronSaying = (name: string, spec: unknown): string => {
  const parsed = shape.safeParse(withoutNulls(spec ?? {}), reportingInput);
  if (!parsed.success) return explain(parsed.error);
  const { schedule = "", timeZone } = parsed.data;
  return `${scheduleSaying(schedule)}${zoneSaying(timeZone)}${nameSaying(name)}`.trim();
};
