/**
 * W1. Each save of a step keeps the waits that its record shows, in the order of their ends: a wait whose reason the save
 *     replaces ended with it, none is there twice, none is lost but the oldest of more than twenty, and the times are those
 *     of saves.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, numberAt, textAt } from "./fields.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const most = 20;
/** The longest time from a step's first read until its save, ms. */
const longestStepMs = 60_000;

const listAt = (record: Item | undefined, name: string): readonly unknown[] => {
  const found = at(record, "spec", "timeline", name);
  return Array.isArray(found) ? found : [];
};

/** The reason without its numbers: counts in it do not begin a new wait. */
const gist = (text: unknown): string => String(text).replace(/[0-9]+/g, "#");

const reasonIn = (record: Item | undefined): string | undefined => textAt(record, "spec", "waitsFor")?.slice(0, 200);

type Wait = readonly [reason: string, from: number, to: number];

const isPlatform = ([reason]: Wait): boolean => reason.startsWith("the platform (");

const waitsIn = (record: Item | undefined): readonly Wait[] =>
  listAt(record, "waits").map((wait): Wait => [String(at(wait, "0")), Number(at(wait, "1")), Number(at(wait, "2"))]);

const presentIn = (record: Item | undefined): readonly [string, number] | undefined => {
  const reason = textAt(record, "spec", "timeline", "waiting", "0");
  const from = numberAt(record, "spec", "timeline", "waiting", "1");
  return reason === undefined || from === undefined ? undefined : [reason, from];
};

/** The waits that the save must leave, without those for the platform; the last may be open. */
const wanted = (
  before: Item | undefined,
  after: Item,
  saved: number,
): readonly (readonly [string, number, number?])[] => {
  const present = presentIn(before);
  const next = reasonIn(after);
  const past = waitsIn(before).filter((wait) => !isPlatform(wait));
  if (present !== undefined && next !== undefined && gist(present[0]) === gist(next))
    return [...past, [next, present[1]]];
  const ended = present === undefined || present[1] >= saved ? past : [...past, [...present, saved] as const];
  if (next === undefined) return ended;
  const last = ended.at(-1);
  return last !== undefined && last[2] === saved && gist(last[0]) === gist(next)
    ? [...ended.slice(0, -1), [next, last[1]]]
    : [...ended, [next, saved]];
};

/** True of a record of a newer schema, and if an earlier version, or a user, left another present wait than the record's. */
const isMixed = (before: Item | undefined): boolean =>
  before !== undefined && (numberAt(before, "spec", "schema") !== 1 || presentIn(before)?.[0] !== reasonIn(before));

/** W1, of one save of a step. */
export const checkWaits = ({ type, object, before }: Change, now: number, blame: Blame): void => {
  // A record that is handed to the next object of the name holds its undelivered updates alone.
  if (type === "DELETED" || isMixed(before) || at(object, "spec", "memory") === null) return;
  const saved = Number(listAt(object, "saves").at(-1));
  if (!(saved * 1_000 <= now && now - saved * 1_000 <= longestStepMs))
    blame(`W1: a save at ${now} is told as at ${saved}`);
  const told = waitsIn(object);
  if (told.length > most || listAt(object, "saves").length > most)
    blame("W1: more than twenty waits, or saves, are kept");
  const present = presentIn(object);
  const own = [...told.filter((wait) => !isPlatform(wait)), ...(present === undefined ? [] : [present])];
  const kept = told.length === most ? own.length : Number.POSITIVE_INFINITY;
  const [got, want] = [own, wanted(before, object, saved).slice(-kept)].map((waits) => JSON.stringify(waits));
  if (got !== want) blame(`W1: a save keeps the waits ${got}, not ${want}`);
  const troubled = at(before, "spec", "trouble") !== undefined && at(object, "spec", "trouble") === undefined;
  const ended = told.filter(isPlatform).length - waitsIn(before).filter(isPlatform).length;
  if (ended > (troubled ? 1 : 0)) blame("W1: a wait for the platform is told twice");
};
