/**
 * Changes that no message has told: a resync finds them. Where the bell or a forwarder sends the keys, they are those that it has
 * lost. A change counts in the resync that finds it first: that one sends its key, and a step may have reasons to leave the
 * object as it is, for example a pause. What the last resync found is in one record for the whole deployment.
 */
import { digest, type Key, textOf } from "../core/key.ts";
import type { Metadata } from "../core/object.ts";
import { counted } from "../core/text.ts";
import { instantOf } from "../core/time.ts";
import type { Report } from "../engine/ports.ts";
import { type Cursors, cursorKey } from "./cursors.ts";

/**
 * Reasons of a resync that show a change without a step; the others belong to objects that are under way. Deleted objects
 * do not count: a resync lists records before objects, and finds every object without its own that is deleted meanwhile.
 */
const reasons: ReadonlySet<string> = new Set(["unrecorded", "replaced", "drifted", "marked"]);

/** The age, ms, below which the message of a new object may still be under way. */
const tellingMs = 60_000;

/** The fields that tell one change of an object from the next. */
type Change = Pick<Metadata, "uid" | "generation" | "creationTimestamp"> & { readonly marks?: string };

/** A change of an object that no step has taken notice of. */
export type Unheard = {
  readonly mark: string;
  /** True while its message may be under way. */
  readonly isYoung: boolean;
};

/** Returns a change that no message has told; undefined for another reason. `now`: epoch ms. */
export const unheardOf = (key: Key, reason: string, change: Change, now: number): Unheard | undefined => {
  if (!reasons.has(reason)) return undefined;
  const { uid = "", generation, marks = "", creationTimestamp } = change;
  const created = instantOf(creationTimestamp) ?? Number.NEGATIVE_INFINITY;
  return {
    mark: digest(textOf(key), reason, uid, String(generation), marks).slice(0, 10),
    isYoung: now - created < tellingMs,
  };
};

/** Returns the key of the record of a whole cluster. */
export const unheardKey = (cluster: string): Key => cursorKey(cluster, undefined, "unheard");

/** The most marks that the record holds. Beyond them changes count again. */
const mostKept = 2_000;

/** Returns the count in the text of the record; 0 for a text of another form. */
export const countIn = (kept: string | undefined): number => {
  const count = Number(kept?.split(" ")[0] ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
};

const newIn = (changes: readonly Unheard[], known: ReadonlySet<string>): number =>
  changes.filter(({ mark, isYoung }) => !isYoung && !known.has(mark)).length;

/** Takes the changes of a resync. Returns the count of those that the one before did not find. */
export type TakeUnheard = (changes: readonly Unheard[]) => Promise<number>;

/**
 * Opens the record, which is written when its text changes. A failure is told: the count is no reason to fail a resync.
 */
export const openUnheard =
  (cursors: Cursors, key: Key, report: Report): TakeUnheard =>
  async (changes) => {
    try {
      const before = await cursors.load(key);
      const count = newIn(changes, new Set(before?.split(" ").slice(1)));
      const now = [String(count), ...changes.slice(0, mostKept).map(({ mark }) => mark)].join(" ");
      // Before the first change nothing is stored.
      if (now !== (before ?? "0")) await cursors.save(key, now);
      return count;
    } catch (cause) {
      report("warn", "the count of changes that no message had told cannot be saved", { error: String(cause) });
      return 0;
    }
  };

/** The latest count of a process that runs one resync after another. */
export type UnheardBoard = { readonly tell: (changes: readonly Unheard[]) => void; readonly latest: () => number };

/** Opens the board. The first resync of a process finds what came before it, which nothing could have told. */
export const openUnheardBoard = (): UnheardBoard => {
  let known: ReadonlySet<string> | undefined;
  let latest = 0;
  return {
    tell: (changes) => {
      latest = known === undefined ? 0 : newIn(changes, known);
      known = new Set(changes.map(({ mark }) => mark));
    },
    latest: () => latest,
  };
};

/** Returns the line that health shows; none while messages tell every change. */
export const unheardLines = (count: number): readonly string[] =>
  count === 0
    ? []
    : [`the last resync found ${counted(count, "change")} that no message had told: see the runbook changes-unheard`];
