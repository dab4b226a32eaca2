/**
 * Cron schedules as robfig/cron v3's ParseStandard reads them, which both operator families use: five fields, `@every`,
 * descriptors, `CRON_TZ=` and `TZ=`. A local time that a clock change skips is left out; one that occurs twice counts
 * twice.
 */
import { type Field, type FieldName, fieldOf } from "./fields.ts";
import { type Zone, zoneOf } from "./zone.ts";

type Fields = Readonly<Record<FieldName, Field>>;

export type Schedule =
  | { readonly is: "every"; readonly everyMs: number }
  | { readonly is: "fields"; readonly fields: Fields; readonly zone: Zone };

export type ReadSchedule =
  | { readonly ok: true; readonly schedule: Schedule }
  | { readonly ok: false; readonly error: string };

const descriptors: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const order: readonly FieldName[] = ["minute", "hour", "day", "month", "weekday"];

const wrong = (error: string): ReadSchedule => ({ ok: false, error });

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 3.6e6,
};

/** Milliseconds of a duration as Go writes it (`1h30m`, `-5m`); undefined when it is none. */
const durationMs = (text: string): number | undefined => {
  // Each digit matches in one way only: a pattern that can split digits in several ways takes exponential time on a
  // text that does not match.
  if (!/^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)];
  const ms = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ""] ?? 0), 0);
  return text.startsWith("-") ? -ms : ms;
};

/** Parses `@every`: whole seconds, and at least one. */
const everyOf = (text: string): ReadSchedule => {
  const ms = durationMs(text);
  if (ms === undefined) return wrong(`@every ${JSON.stringify(text)} is not a duration; write it like "@every 1h30m"`);
  if (ms <= 0) return wrong(`@every ${JSON.stringify(text)} must be above 0; write it like "@every 1h30m"`);
  return { ok: true, schedule: { is: "every", everyMs: Math.max(1_000, Math.floor(ms / 1_000) * 1_000) } };
};

const standard = (text: string, zone: Zone): ReadSchedule => {
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length !== order.length)
    return wrong(`a schedule has 5 fields (minute, hour, day of month, month, day of week), this has ${words.length}`);
  const read = order.map((name, index) => [name, fieldOf(name, words[index] ?? "")] as const);
  const problems = read.flatMap(([, field]) => (field.ok ? [] : [field.error]));
  if (problems.length > 0) return wrong(problems.join("; "));
  const fieldNamed = (name: FieldName): Field => {
    const found = read.find(([one]) => one === name)?.[1];
    return found?.ok === true ? found.value : { allows: new Set(), star: false };
  };
  const [minute, hour, day] = [fieldNamed("minute"), fieldNamed("hour"), fieldNamed("day")];
  const fields = { minute, hour, day, month: fieldNamed("month"), weekday: fieldNamed("weekday") };
  return { ok: true, schedule: { is: "fields", fields, zone } };
};

/** Longest schedule, and longest time zone, that is parsed, characters. */
const longest = 256;

const tooLong = (what: string, text: string): string | undefined =>
  text.length <= longest ? undefined : `${what} is ${text.length} characters long: at most ${longest} are read`;

/** Parses a schedule. `timeZone` applies unless the schedule itself begins with one. */
export const readSchedule = (given: string, timeZone = ""): ReadSchedule => {
  const problem = tooLong("the schedule", given) ?? tooLong("Invalid timezone: it", timeZone);
  if (problem !== undefined) return wrong(problem);
  const [, own, rest] = /^\s*(?:CRON_TZ|TZ)=(\S*)\s(.*)$/s.exec(given) ?? [];
  const name = own ?? timeZone;
  const zone = zoneOf(name);
  if (zone === undefined) return wrong(`Invalid timezone: unknown time zone ${name}`);
  const text = (rest ?? given).trim();
  if (text === "") return wrong("the schedule is empty");
  if (!text.startsWith("@")) return standard(text, zone);
  const every = /^@every\s(.*)$/s.exec(text)?.[1];
  if (every !== undefined) return everyOf(every.trim());
  const meant = descriptors[text];
  return meant === undefined
    ? wrong(
        `unknown descriptor ${JSON.stringify(text)}: there are @every DURATION, ${Object.keys(descriptors).join(", ")}`,
      )
    : standard(meant, zone);
};

const minuteMs = 60_000;
const dayMinutes = 1_440;
/** As robfig's: a schedule without an instant in the next five years has none. */
const longestMs = 5 * 366 * dayMinutes * minuteMs;
/** No clock changes by more than this within a day that is skipped, minutes. */
const shiftMinutes = 180;
/** A day that every month has, and a few more: up to it, days of a month that the schedule does not name are skipped. */
const safeDay = 25;

/** Day and weekday: when both are restricted, one of them is enough. */
const dayMatches = ({ day, month, weekday }: Fields, wall: ReturnType<Zone>): boolean => {
  if (!month.allows.has(wall.month)) return false;
  const [byDay, byWeekday] = [day.allows.has(wall.day), weekday.allows.has(wall.weekday)];
  return day.star || weekday.star ? byDay && byWeekday : byDay || byWeekday;
};

/**
 * Returns the minutes to skip; 0 if the schedule names this minute. The last hours of a skipped day are passed one by
 * one, because clocks may change in them.
 */
const skip = (fields: Fields, wall: ReturnType<Zone>): number => {
  if (!dayMatches(fields, wall)) {
    const days = fields.month.allows.has(wall.month) ? 0 : Math.max(0, safeDay - wall.day);
    const left = days * dayMinutes + dayMinutes - (wall.hour * 60 + wall.minute);
    return left > shiftMinutes + 60 ? left - shiftMinutes : 60 - wall.minute;
  }
  if (!fields.hour.allows.has(wall.hour)) return 60 - wall.minute;
  return fields.minute.allows.has(wall.minute) ? 0 : 1;
};

/**
 * Returns the first instant after `after` (epoch ms) that the schedule names; undefined if none comes until `last`,
 * which is five years later if it is absent.
 */
export const nextAfter = (schedule: Schedule, after: number, last = after + longestMs): number | undefined => {
  if (schedule.is === "every") return Math.floor(after / 1_000) * 1_000 + schedule.everyMs;
  const { fields, zone } = schedule;
  for (let at = Math.floor(after / minuteMs) * minuteMs + minuteMs; at <= last; ) {
    const minutes = skip(fields, zone(at));
    if (minutes === 0) return at;
    at += minutes * minuteMs;
  }
  return undefined;
};
