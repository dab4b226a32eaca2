/**
 * Decides how many executors to create now, and under which ids: the expected number less those that run or may be on
 * their way, at most a batch in an interval. Pending executors hold others up only while they are young: one that never
 * starts must not keep the rest from being replaced.
 */

import { backoffOf } from "../../core/time.ts";
import type { WaitingOn } from "../../core/waiting-on.ts";
import { type Allotment, handedOut } from "./allotment.ts";
import { countOfIds, idsOf, textOfIds } from "./ids.ts";
import { isLiving, type Member } from "./members.ts";

export type Pace = {
  /** The most executors created within one interval. */
  readonly batch: number;
  readonly intervalMs: number;
  /** The most young pending pods. */
  readonly maxPending: number;
  /** The most ids of one run: Spark's own allocator stops before the id that is its maximum. */
  readonly mostIds: number;
  /** Time for which a pod counts as young. */
  readonly registrationMs: number;
};

export type Need = {
  readonly expected: number;
  readonly members: readonly Member[];
  /** The allotment after the read of the members. */
  readonly allotment: Allotment;
  /** The number of executors that exited with 0 before the driver said that the application goes on. */
  readonly unsure: number;
  readonly pace: Pace;
  /** The API server's clock, epoch ms. */
  readonly now: number;
  /** The time, epoch ms, by which a few prompt creations have arrived; undefined where creations are not prompt. */
  readonly promptUntil: number | undefined;
};

/** The most creations that are prompt: they begin soon after the first read or not at all. */
export const mostPrompt = 16;

export type Allocation = {
  /** New ids, saved before their pods are created. */
  readonly ids: readonly number[];
  readonly allotment: Allotment;
  /** The time at which more may be created, epoch ms; undefined when no timer is needed. */
  readonly wakeAt: number | undefined;
  /** The reason why executors are not created. */
  readonly waitsFor?: WaitingOn;
  /** Executors are missing, and the run has used all its ids. */
  readonly exhausted?: true;
};

/** Crashes in a row that cause no wait; one for every executor, where these are more. */
const forgiven = 5;
const longestWaitMs = 300_000;

/** The most crashes in a row after which replacements come without a wait. */
export const crashesBefore = (expected: number): number => Math.max(forgiven, expected);

/** The end of the wait after crashes in a row, epoch ms: it doubles with every round of them. */
const heldUntil = ({ crashes }: Allotment, expected: number): number => {
  const free = crashesBefore(expected);
  if (crashes === undefined || crashes.count <= free) return 0;
  const rounds = Math.floor((crashes.count - free - 1) / Math.max(1, expected));
  return crashes.at + backoffOf(rounds, 5_000, longestWaitMs);
};

export const underwayIn = ({ underway }: Allotment): number =>
  underway.reduce((sum, { ids }) => sum + countOfIds(idsOf(ids)), 0);

/** The number of young pending executors, and the time when the oldest is no longer young. */
const waiting = ({ members, allotment, pace, now }: Need): { readonly count: number; readonly until: number } => {
  const young = members.filter(({ state, createdAt }) => state === "pending" && createdAt + pace.registrationMs > now);
  const until = Math.min(...young.map(({ createdAt }) => createdAt + pace.registrationMs));
  return { count: young.length + underwayIn(allotment), until };
};

/** The creations of the current interval, and its start. */
const roomIn = ({ allotment: { window }, pace, now }: Need): { readonly made: number; readonly at: number } =>
  window === undefined || now >= window.at + pace.intervalMs ? { made: 0, at: now } : window;

export const shortage = ({ expected, members, allotment, unsure }: Need): number =>
  expected - members.filter(isLiving).length - underwayIn(allotment) - unsure;

const arrives = ({ promptUntil: until }: Need, made: number): { until?: number } =>
  until === undefined || made > mostPrompt ? {} : { until };

const exhausted = ({ pace: { mostIds } }: Need, short: number): Pick<Allocation, "exhausted" | "waitsFor"> => ({
  exhausted: true,
  waitsFor: { on: "executorIds", short, most: mostIds },
});

export const allocate = (need: Need): Allocation => {
  const { allotment, expected, pace, now } = need;
  const short = shortage(need);
  if (short <= 0) return { ids: [], allotment, wakeAt: undefined };
  const idsLeft = Math.max(0, pace.mostIds - handedOut(allotment));
  if (idsLeft === 0) return { ids: [], allotment, wakeAt: undefined, ...exhausted(need, short) };
  const held = heldUntil(allotment, expected);
  if (held > now) {
    const waitsFor = { on: "crashes", count: allotment.crashes?.count ?? 0 } as const;
    return { ids: [], allotment, wakeAt: held, waitsFor };
  }
  const window = roomIn(need);
  const { count, until } = waiting(need);
  const room = pace.batch - window.made;
  const made = Math.max(0, Math.min(short, room, pace.maxPending - count, idsLeft));
  const { next } = allotment;
  const after: Allotment = {
    ...allotment,
    next: next + made,
    underway:
      made === 0
        ? allotment.underway
        : [...allotment.underway, { ids: textOfIds([[next, next + made - 1]]), at: now, ...arrives(need, made) }],
    ...(made === 0 ? {} : { window: { at: window.at, made: window.made + made } }),
  };
  const left = short - made;
  const ids = Array.from({ length: made }, (_, at) => next + at);
  if (left > 0 && made === idsLeft) return { ids, allotment: after, wakeAt: undefined, ...exhausted(need, left) };
  const nextAt = room - made <= 0 ? window.at + pace.intervalMs : until;
  return {
    ids,
    allotment: after,
    wakeAt: left > 0 && Number.isFinite(nextAt) ? nextAt : undefined,
  };
};
