/** Admission of a CronJob: upstream's rules for schedule, time zone and name, in its words. */
import { readSchedule } from "../../core/cron/schedule.ts";
import { zoneOf } from "../../core/cron/zone.ts";
import type { Named } from "../../kube/admission.ts";
import { explain, telling } from "../../kube/explain.ts";
import { isRecord } from "../../kube/responses.ts";
import { longestName, readCronSpec } from "../cron/read.ts";
import { withoutNulls } from "../schema/absent.ts";
import { cronSpecSchema } from "../schema/cron.ts";
import { qualifiedNameErrors } from "../schema/names.ts";
import { jobWarnings, newJobSaying } from "./job.ts";

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
  const parsed = shape.safeParse(withoutNulls(spec ?? {}), telling);
  if (!parsed.success) return explain(parsed.error);
  const { schedule = "", timeZone } = parsed.data;
  return `${scheduleSaying(schedule)}${zoneSaying(timeZone)}${nameSaying(name)}`.trim();
};

/** Returns warnings about the jobs of a template. Upstream finds these problems only when it creates a job. */
export const templateWarnings = (name: string, template: unknown): readonly string[] => {
  const spec = isRecord(template) ? template["spec"] : undefined;
  const saying = newJobSaying(name, spec);
  return saying === ""
    ? jobWarnings(spec).map((text) => `of its jobs ${text}`)
    : [`its jobs will be refused: ${saying}`];
};

/** Returns warnings about a spec that upstream stores and that reconcile reports later. */
export const cronWarnings = ({ name, namespace }: Named, spec: unknown): readonly string[] => {
  const metadata = { name, namespace, uid: "", resourceVersion: "" };
  const read = readCronSpec({ apiVersion: "", kind: "CronJob", metadata, spec });
  const template = isRecord(spec) ? spec["jobTemplate"] : undefined;
  return read.ok ? templateWarnings(`${name}-00000000`, template) : [`it will not run: ${read.message}`];
};
