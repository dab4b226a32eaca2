/**
 * The demand of the applications that share the quota, drawn once from a seed: each needs a number of executors for some
 * minutes, then another one. All together they need more than there is quota for most of the time.
 */
import { randomFrom } from "../../real/lambda/random.ts";

export type Level = { readonly fromMs: number; readonly executors: number };

/** The demand of an application: its levels in their order, the first from 0 on. */
export type Course = readonly Level[];

const mostNeeded = 14;
/** A level stands for this long, ms. */
const [leastMs, mostMs] = [60_000, 240_000];

const courseOf = (random: () => number, lengthMs: number): Course => {
  const levels: Level[] = [];
  // The application is somewhere in its first level when the course begins.
  for (
    let fromMs = 0, ms = random() * mostMs;
    fromMs < lengthMs;
    fromMs += ms, ms = leastMs + random() * (mostMs - leastMs)
  )
    levels.push({ fromMs, executors: 1 + Math.floor(random() * mostNeeded) });
  return levels;
};

/** Returns as many courses of this length. */
export const coursesOf = (applications: number, lengthMs: number): readonly Course[] => {
  const random = randomFrom(43);
  return Array.from({ length: applications }, () => courseOf(random, lengthMs));
};

/** The executors that an application needs at a moment of its course, and since when. */
export const levelAt = (course: Course, atMs: number): Level =>
  course.findLast(({ fromMs }) => fromMs <= atMs) ?? { fromMs: 0, executors: course[0]?.executors ?? 0 };
