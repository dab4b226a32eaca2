/**
 * Cron schedules as robfig/cron v3's ParseStandard reads them, which both operator families use: five fields,
 * `@every`, descriptors, `CRON_TZ=` and `TZ=`. A local time that a clock change skips is left out; one that occurs
 * twice counts twice. The rules of time zones come with the runtime's ICU data.
 */

/** `star`: the field restricts nothing, so of day and weekday only the other one counts. */
type Field = { readonly allows: ReadonlySet<number>; readonly star: boolean };

export type Bounds = {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
};

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The five fields in their order. Names count from `least`. */
export const bounds = {
  minute: { name: "minute", least: 0, most: 59 },
  hour: { name: "hour", least: 0, most: 23 },
  day: { name: "day of month", least: 1, most: 31 },
  month: { name: "month", least: 1, most: 12, names: months },
  weekday: { name: "day of week", least: 0, most: 6, names: weekdays },
} as const satisfies Readonly<Record<string, Bounds>>;

type FieldName = keyof typeof bounds;

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

const wrongField = (bound: Bounds, text: string, why: string): { readonly ok: false; readonly error: string } => ({
  ok: false,
  error: `${bound.name} ${JSON.stringify(text)} ${why}`,
});

const numberOf = (bound: Bounds, text: string): number | undefined => {
  const named = bound.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + bound.least;
  return /^\d+$/.test(text) ? Number(text) : undefined;
};

type Range = { readonly from: number; readonly to: number; readonly step: number; readonly star: boolean };

const rangeOf = (bound: Bounds, text: string): Parsed<Range> => {
  const [span = "", stepText, ...more] = text.split("/");
  const [low = "", high, ...others] = span.split("-");
  if (more.length > 0 || others.length > 0) return wrongField(bound, text, "has too many parts");
  const all = low === "*" || low === "?";
  const from = all ? bound.least : numberOf(bound, low);
  const step = stepText === undefined ? 1 : numberOf({ name: bound.name, least: 0, most: 0 }, stepText);
  const open = all || (high === undefined && stepText !== undefined);
  const to = open ? bound.most : numberOf(bound, high ?? low);
  if (from === undefined || to === undefined || step === undefined) return wrongField(bound, text, "is not a number");
  return { ok: true, value: { from, to, step, star: all && step <= 1 } };
};

const checked = (bound: Bounds, text: string, { from, to, step }: Range): string | undefined => {
  if (from < bound.least) return `is below ${bound.least}`;
  if (to > bound.most) return `is above ${bound.most}`;
  if (from > to) return "ends before it begins";
  return step === 0 ? `has the step 0 in ${JSON.stringify(text)}` : undefined;
};

const numbersIn = ({ from, to, step }: Range): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

/** Parses ranges, lists, steps and names; an error contains the field's name. */
const fieldOf = (name: FieldName, text: string): Parsed<Field> => {
  const bound: Bounds = bounds[name];
  const parts = text.split(",").filter((part) => part !== "");
  const allows = new Set<number>();
  let star = false;
  if (parts.length === 0) return wrongField(bound, text, "is empty");
  for (const part of parts) {
    const range = rangeOf(bound, part);
    if (!range.ok) return range;
    const problem = checked(bound, part, range.value);
    if (problem !== undefined) return wrongField(bound, part, problem);
    for (const number of numbersIn(range.value)) allows.add(number);
    star ||= range.value.star;
  }
  return { ok: true, value: { allows, star } };
};

/** Date and time in a zone. `weekday` 0 is Sunday. */
export type WallClockTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly weekday: number;
};

/** Maps epoch ms to the local time of the zone. */
type Zone = (at: number) => WallClockTime;

const utc: Zone = (at) => {
  const date = new Date(at);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
};

const formatterFor = (name: string): Intl.DateTimeFormat | undefined => {
  try {
    const parts = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
    return new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", { timeZone: name, hourCycle: "h23", ...parts });
  } catch {
    return undefined;
  }
};

/**
 * Returns a zone by its IANA name; undefined if there is none. "" and "Local" are UTC, because a function has no local
 * zone.
 */
export const zoneOf = (name: string): Zone | undefined => {
  if (name === "" || name === "Local" || name === "UTC") return utc;
  const formatter = formatterFor(name);
  if (formatter === undefined) return undefined;
  return (at) => {
    const shown = Object.fromEntries(formatter.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = shown;
    return { year, month, day, hour, minute, weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay() };
  };
};

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

/**
 * Returns the first instant after `now` that the schedule names, with `tick` as its last one: times in between were
 * missed, and one run replaces them all.
 */
export const nextAfterMissed = (schedule: Schedule, tick: number, now: number): number | undefined => {
  const next = nextAfter(schedule, tick);
  return next !== undefined && next > now ? next : nextAfter(schedule, Math.max(tick, now));
};
