/**
 * How many executors to make now, and under which ids. Expected less what lives or may be on its way, at most a batch in
 * an interval; executors that wait for a place hold others up only while they are young: one that will never start
 * must not keep the rest from being replaced.
 */

import type { WaitingOn } from "../../core/waiting-on.ts";
import { type Allotment, handedOut } from "./allotment.ts";
import { countOfIds, idsOf, textOfIds } from "./ids.ts";
import { isLiving, type Member } from "./members.ts";

export type Pace = {
  /** Executors made within one interval, at most. */
  readonly batch: number;
  readonly intervalMs: number;
  /** Young pods that wait for a place, at most. */
  readonly maxPending: number;
  /** Ids that one run is handed out, at most: Spark's own allocator stops before the id that is its maximum. */
  readonly mostIds: number;
  /** A pod is young for so long. */
  readonly registrationMs: number;
};

export type Need = {
  readonly expected: number;
  readonly members: readonly Member[];
  /** As it is after the look at the members. */
  readonly allotment: Allotment;
  /** Executors that ended with 0 while nobody has said that the application goes on. */
  readonly unsure: number;
  readonly pace: Pace;
  /** The API server's clock, epoch ms. */
  readonly now: number;
  /** When those that are made at once will have arrived, if they are few, epoch ms; undefined where nothing is at once. */
  readonly promptUntil: number | undefined;
};

/** So many are few: they are made at once, or not at all. */
export const mostPrompt = 16;

export type Allocation = {
  /** New ids, to be saved before anything is made of them. */
  readonly ids: readonly number[];
  readonly allotment: Allotment;
  /** When more may be made, epoch ms; undefined when nothing is to come of itself. */
  readonly wakeAt: number | undefined;
  /** What keeps executors from being made, in words. */
  readonly waitsFor?: WaitingOn;
  /** Executors are missing, and the run may be handed out no further id. */
  readonly exhausted?: true;
};

/** So many crashes in a row are nothing to wait for, beside one for every executor. */
const forgiven = 5;
const longestWaitMs = 300_000;

/** So many crashes in a row are made good at once. */
export const crashesBefore = (expected: number): number => Math.max(forgiven, expected);

/** Executors that crash one after the other are made ever more slowly: doubled for every round of them. */
const heldUntil = ({ crashes }: Allotment, expected: number): number => {
  const free = crashesBefore(expected);
  if (crashes === undefined || crashes.count <= free) return 0;
  const rounds = Math.floor((crashes.count - free - 1) / Math.max(1, expected));
  return crashes.at + Math.min(longestWaitMs, 5_000 * 2 ** Math.min(20, rounds));
};

const underwayIn = ({ underway }: Allotment): number =>
  underway.reduce((sum, { ids }) => sum + countOfIds(idsOf(ids)), 0);

/** Young ones that wait, and when the oldest of them ceases to be young. */
const waiting = ({ members, allotment, pace, now }: Need): { readonly count: number; readonly until: number } => {
  const young = members.filter(
    ({ standing, createdAt }) => standing === "pending" && createdAt + pace.registrationMs > now,
  );
  const until = Math.min(...young.map(({ createdAt }) => createdAt + pace.registrationMs));
  return { count: young.length + underwayIn(allotment), until };
};

/** What an interval still has room for, and when the next one begins. */
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
