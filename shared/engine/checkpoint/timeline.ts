/**
 * The timeline of a record, for people: the latest past waits and the times of the latest saves. Each save derives it
 * from the record that it replaces, so a step that is taken again adds nothing twice. No decision reads it, and no save
 * is made for it. Pure.
 */
import * as z from "zod";
import { startOf } from "../../core/text.ts";
import { platformText } from "../../core/waiting-on.ts";
import type { CheckpointRecord, PastWait, Timeline } from "../ports.ts";

/** The most past waits, and the most times of saves, of one record. */
const most = 20;
/** The longest reason of a wait, characters. */
const longest = 200;

const second = z.int();

/** The field of a record. */
export const timelineShape = z.object({
  waits: z.array(z.tuple([z.string(), second, second])).optional(),
  waiting: z.tuple([z.string(), second]).optional(),
  saves: z.array(second).optional(),
});

type Waits = Pick<Timeline, "waits" | "waiting">;
type Held = Partial<Pick<CheckpointRecord, "timeline" | "waitsFor">>;

/** Reasons that differ in their numbers only are one wait. */
const gist = (reason: string): string => reason.replaceAll(/\d+/g, "#");

const isSame = (one: string, other: string | undefined): boolean => other !== undefined && gist(one) === gist(other);

const reasonOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : startOf(text, longest);

/** Adds a past wait. One that took no time is none. */
const withPast = (waits: readonly PastWait[], ...past: PastWait): readonly PastWait[] => {
  const [, from, to] = past;
  return to > from ? [...waits, past].slice(-most) : waits;
};

/** Begins a wait. One that ended in this very second, for the same reason, goes on. */
const begun = (waits: readonly PastWait[], reason: string | undefined, at: number): Waits => {
  if (reason === undefined) return { waits };
  const same = waits.find(([ended, , to]) => to === at && isSame(ended, reason));
  return same === undefined
    ? { waits, waiting: [reason, at] }
    : { waits: waits.filter((wait) => wait !== same), waiting: [reason, same[1]] };
};

/**
 * The waits after a save with this reason. A save of an earlier version, which keeps no waits, leaves a present wait of
 * another reason than the record's: it ended after the last save that is known, and nobody knows when the record's began.
 */
const waitsAfter = (record: Held | undefined, next: string | undefined, at: number): Waits => {
  const { waits = [], waiting, saves = [] } = record?.timeline ?? {};
  if (waiting === undefined) return begun(waits, next, at);
  const [reason, from] = waiting;
  if (reason !== reasonOf(record?.waitsFor))
    return {
      waits: withPast(waits, reason, from, saves.at(-1) ?? from),
      ...(next === undefined ? {} : { waiting: [next, at] }),
    };
  if (isSame(reason, next)) return { waits, waiting: [next ?? reason, from] };
  return begun(withPast(waits, reason, from, at), next, at);
};

const savesAfter = (saves: readonly number[], at: number): readonly number[] =>
  saves.at(-1) === at ? saves : [...saves, at].slice(-most);

const secondOf = (now: number): number => Math.floor(now / 1_000);

const compact = ({ waits = [], waiting, saves }: Timeline): Timeline => ({
  ...(waits.length === 0 ? {} : { waits }),
  ...(waiting === undefined ? {} : { waiting }),
  ...(saves === undefined ? {} : { saves }),
});

/** Returns the timeline of a record that replaces `record` and waits for `waitsFor`; `now` in epoch ms. */
export const timelineAfter = (record: Held | undefined, waitsFor: string | undefined, now: number): Timeline => {
  const at = secondOf(now);
  const saves = savesAfter(record?.timeline?.saves ?? [], at);
  return compact({ ...waitsAfter(record, reasonOf(waitsFor), at), saves });
};

/** Returns the timeline of a record that is saved with the wait that it had. */
export const timelineKept = (record: Held, now: number): Timeline => timelineAfter(record, record.waitsFor, now);

/** Returns the timeline of a record whose trouble is over: the trouble was a wait, too. */
export const timelineUntroubled = (record: CheckpointRecord, now: number): Timeline => {
  const kept = timelineKept(record, now);
  const { trouble } = record;
  if (trouble === undefined) return kept;
  const reason = startOf(platformText(trouble), longest);
  return compact({ ...kept, waits: withPast(kept.waits ?? [], reason, secondOf(trouble.since), secondOf(now)) });
};
