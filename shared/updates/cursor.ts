/** The progress of a delivery in its stream: which update is acknowledged, which is sent, and which is due next. */
import * as z from "zod";
import { backoffOf } from "../core/time.ts";
import { newestOf, type Outbox, type Position, type Update, waiting } from "../core/updates.ts";
import { instant } from "../kube/schema.ts";

/** The update that was sent, or was about to be. Instants in epoch ms. */
const outstanding = z.object({
  sequence: z.number().int().min(1),
  /** The listener that was tried. An update for another listener is due at once. */
  to: z.string(),
  tries: z.number().int().min(1),
  /** Time of the first try. */
  since: instant,
  /** Time at which the try counts as lost and the update is sent again. */
  nextAt: instant,
  /** The answer or failure of the last try; absent before one has failed. */
  error: z.string().optional(),
});

const shape = z.object({
  stream: z.string().min(1),
  /** Sequence of the newest update that was acknowledged. */
  acknowledged: z.number().int().min(0),
  /** True if the acknowledged update was terminal: no other follows, unless the object continues. */
  closed: z.boolean(),
  outstanding: outstanding.optional(),
});

export type Cursor = z.infer<typeof shape>;

/** Parses the record of a delivery; undefined if it is not one. */
export const readCursor = (stored: unknown): Cursor | undefined => shape.safeParse(stored).data;

const firstRetryMs = 10_000;
const longestRetryMs = 600_000;

/** Returns the wait before the next try: 10 s doubling to 10 min. */
export const retryMs = (tries: number): number => backoffOf(tries - 1, firstRetryMs, longestRetryMs);

const begun = (stream: string): Cursor => ({ stream, acknowledged: 0, closed: false });

/** Returns the stored cursor, or a new one if it belongs to another stream. */
const cursorFor = ({ stream }: Outbox, cursor: Cursor | undefined): Cursor =>
  cursor?.stream === stream ? cursor : begun(stream);

export type Due =
  | {
      readonly do: "send";
      readonly update: Update;
      /** The newest update: a late update carries the present state along. */
      readonly latest: Update;
      /** To be saved before the update is sent. */
      readonly cursor: Cursor;
    }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "rest" };

/** Decides the next action of a delivery. */
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

/** Returns the cursor after an acknowledgement, or why it is ignored. */
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

/** Returns the cursor after a try without acknowledgement. */
export const failed = (cursor: Cursor, error: string): Cursor =>
  cursor.outstanding === undefined ? cursor : { ...cursor, outstanding: { ...cursor.outstanding, error } };
