/**
 * How far a stream of updates has come, and what is due of it. Pure.
 *
 * U1. Exactly one update of a stream is outstanding: the oldest that nobody has acknowledged.
 * U2. That it is going to be sent is saved before it is sent, so of two deliveries at once one sends.
 * U3. What was acknowledged is never sent again; any other word of acknowledgement changes nothing.
 */
import * as z from "zod";
import { newestOf, type Outbox, type Position, type Update, waiting } from "../core/outbox.ts";
import { instant } from "../kube/instant.ts";

/** The one that was sent, or was going to be. Instants in epoch ms. */
const outstanding = z.object({
  sequence: z.number().int().min(1),
  /** The listener that was tried. An update for another listener is due at once. */
  to: z.string(),
  tries: z.number().int().min(1),
  /** Of the first try. */
  since: instant,
  /** When it counts as lost and is sent again. */
  nextAt: instant,
  /** The answer or failure of the last try; absent before one has failed. */
  error: z.string().optional(),
});

const shape = z.object({
  stream: z.string().min(1),
  /** Sequence of the newest update that was acknowledged. */
  acknowledged: z.number().int().min(0),
  /** That one was an end: nothing is to come, unless the object goes on after all. */
  closed: z.boolean(),
  outstanding: outstanding.optional(),
});

export type Cursor = z.infer<typeof shape>;

/** Reads what a delivery's record holds; undefined when it is none. */
export const readCursor = (stored: unknown): Cursor | undefined => shape.safeParse(stored).data;

const firstRetryMs = 10_000;
const longestRetryMs = 600_000;

/** 10 s doubling to 10 min. */
export const retryMs = (tries: number): number => Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(tries - 1, 6));

const begun = (stream: string): Cursor => ({ stream, acknowledged: 0, closed: false });

/** A cursor of another stream says nothing of this one. */
const cursorFor = ({ stream }: Outbox, cursor: Cursor | undefined): Cursor =>
  cursor?.stream === stream ? cursor : begun(stream);

export type Due =
  | {
      readonly do: "send";
      readonly update: Update;
      /** The newest that is known: a late update comes with where things stand by now. */
      readonly latest: Update;
      /** To be saved first. */
      readonly cursor: Cursor;
    }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "rest" };

/** Decides what a delivery does about a stream now. */
export const dueOf = (outbox: Outbox, stored: Cursor | undefined, to: string, now: number): Due => {
  const cursor = cursorFor(outbox, stored);
  const [update] = waiting(outbox, { stream: cursor.stream, sequence: cursor.acknowledged });
  const latest = newestOf(outbox);
  if (update === undefined || latest === undefined) return { do: "rest" };
  const out = cursor.outstanding;
  const isAgain = out?.sequence === update.sequence && out.to === to;
  if (isAgain && now < out.nextAt) return { do: "wait", until: out.nextAt };
  const tries = isAgain ? out.tries + 1 : 1;
  const since = out?.sequence === update.sequence ? out.since : now;
  const error = isAgain && out.error !== undefined ? { error: out.error } : {};
  const claimed = { sequence: update.sequence, to, tries, since, nextAt: now + retryMs(tries), ...error };
  return { do: "send", update, latest, cursor: { ...cursor, outstanding: claimed } };
};

/** The cursor after an acknowledgement, or why it counts for nothing. */
export const acknowledged = (
  outbox: Outbox,
  cursor: Cursor | undefined,
  { stream, sequence }: Position,
): Cursor | "duplicate" | "unexpected" => {
  if (cursor === undefined || stream !== outbox.stream || cursor.stream !== stream) return "unexpected";
  if (sequence <= cursor.acknowledged) return "duplicate";
  if (cursor.outstanding?.sequence !== sequence) return "unexpected";
  const closed = outbox.entries.some((entry) => entry.sequence === sequence && entry.terminal);
  return { stream, acknowledged: sequence, closed };
};

/** The cursor after a try that nobody acknowledged. */
export const failed = (cursor: Cursor, error: string): Cursor =>
  cursor.outstanding === undefined ? cursor : { ...cursor, outstanding: { ...cursor.outstanding, error } };
