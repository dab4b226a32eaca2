/** Finds the due time of a schedule: the most recent one that was not taken, and how many were missed before it. */
import { nextAfter, type Schedule } from "../../core/cron.ts";

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
