/**
 * Reads a CronJob's spec as the API server stores it; otherwise returns one message about what to change. Finds the
 * due time of its schedule: the most recent one that was not taken, and how many were missed before it.
 */

import { nextAfter, readSchedule, type Schedule, zoneOf } from "../../core/cron.ts";
import { withoutNulls } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { type ConcurrencyPolicy, readConcurrency } from "../../kube/history.ts";
import type { Json } from "../../kube/responses.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { cronLimits } from "../schema/limits.ts";

import { cronSpecSchema } from "../schema/workflows.ts";

export type Recent = {
  /** Times up to this one are over, epoch ms. */
  readonly earliest: number;
  /** The time that is due, epoch ms; absent: none. */
  readonly mostRecent?: number;
  readonly missed: "none" | "few" | "many";
  /** Why the schedule has no time. */
  readonly error?: string;
};

/** `after`: the last time that was taken, epoch ms. `deadlineMs`: how late a time may be begun. */
export type DueQuery = { readonly after: number; readonly now: number; readonly deadlineMs?: number | undefined };

const never = "time difference between two schedules is less than 1 second";

/** More missed times than this are many. */
const few = 100;

const minuteMs = 60_000;

/**
 * Returns the last time of five fields after `from` and up to `now`. Bisects: a gap of a year may be followed by a time
 * in each minute of another one.
 */
const lastOfFields = (schedule: Schedule, from: number, now: number): number | undefined => {
  const nextIn = (after: number): number | undefined => nextAfter(schedule, after, now);
  let last = nextIn(from);
  let [low, high] = [last ?? now, now];
  while (last !== undefined && high - low >= minuteMs) {
    const middle = Math.floor((low + high) / 2);
    const next = nextIn(middle);
    if (next === undefined) high = middle;
    else [last, low] = [next, next];
  }
  return last;
};

/** Returns the last time up to `now`, searched from `from` on. */
const lastUntil = (schedule: Schedule, from: number, now: number): number | undefined => {
  if (schedule.is === "fields") return lastOfFields(schedule, from, now);
  let last: number | undefined;
  let next = nextAfter(schedule, from);
  while (next !== undefined && next <= now) {
    last = next;
    next = nextAfter(schedule, next);
  }
  return last;
};

/**
 * Estimates the number of missed times by the distance of the first two, and searches the last one from there, as
 * upstream does. In an uneven schedule it may find none.
 */
const passed = (
  schedule: Schedule,
  earliest: number,
  [first, second]: readonly [number, number],
  now: number,
): Recent => {
  const apart = Math.round((second - first) / 1_000);
  if (apart < 1) return { earliest, missed: "none", error: never };
  const count = Math.floor(Math.floor((now - first) / 1_000) / apart) + 1;
  const mostRecent = lastUntil(schedule, first + (count - 2) * apart * 1_000, now);
  const missed = count > few ? "many" : "few";
  return mostRecent === undefined ? { earliest, missed } : { earliest, mostRecent, missed };
};

/** As upstream's mostRecentScheduleTime. */
export const recentOf = (schedule: Schedule, { after, now, deadlineMs }: DueQuery): Recent => {
  const earliest = deadlineMs === undefined ? after : Math.max(after, now - deadlineMs);
  const first = nextAfter(schedule, earliest);
  if (first === undefined) return { earliest, missed: "none", error: never };
  if (now < first) return { earliest, missed: "none" };
  const second = nextAfter(schedule, first);
  if (second === undefined) return { earliest, missed: "none", error: never };
  if (now < second) return { earliest, mostRecent: first, missed: "none" };
  return passed(schedule, earliest, [first, second], now);
};

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
  const beyond = cronLimits(object.spec);
  if (beyond !== "") return wrong("InvalidSpec", beyond);
  const parsed = cronSpecSchema.safeParse(withoutNulls(object.spec ?? {}), reportingInput);
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
