/**
 * Changes that no message has told: a resync finds them. Where the bell or a forwarder sends the keys, they are those that it has
 * lost. The latest count is in one record for the whole deployment, which is written when it changes.
 */
import type { Key } from "../core/key.ts";
import { counted } from "../core/text.ts";
import type { Report } from "../engine/ports.ts";
import { type Cursors, cursorKey } from "./cursors.ts";

/** Reasons of a resync that show a change without a step; the others belong to objects that are under way. */
const reasons: ReadonlySet<string> = new Set(["unrecorded", "replaced", "drifted", "marked", "orphaned"]);

export const isUnheard = (reason: string): boolean => reasons.has(reason);

/** Returns the key of the record of a whole cluster. */
export const unheardKey = (cluster: string): Key => cursorKey(cluster, undefined, "unheard");

/** Opens the saving of counts; an equal one is not written again. A failure is told: the count is no reason to fail a resync. */
export const openUnheard = (cursors: Cursors, key: Key, report: Report): ((count: number) => Promise<void>) => {
  let saved: string | undefined;
  return async (count) => {
    const now = String(count);
    if (saved === now) return;
    try {
      // Before the first count nothing is stored, which means 0.
      const before = (await cursors.load(key)) ?? "0";
      if (before !== now) await cursors.save(key, now);
      saved = now;
    } catch (cause) {
      report("warn", "the count of changes that no message had told cannot be saved", { error: String(cause) });
    }
  };
};

/** The latest count of a process that runs one resync after another. */
export type UnheardBoard = { tell(count: number): void; latest(): number };

/** Opens the board. The first resync of a process finds what came before it, which nothing could have told. */
export const openUnheardBoard = (): UnheardBoard => {
  let latest: number | undefined;
  return {
    tell: (count) => {
      latest = latest === undefined ? 0 : count;
    },
    latest: () => latest ?? 0,
  };
};

/** Returns the line that health shows; none while messages tell every change. */
export const unheardLines = (count: number): readonly string[] =>
  count === 0
    ? []
    : [`the last resync found ${counted(count, "change")} that no message had told: see the runbook changes-unheard`];
