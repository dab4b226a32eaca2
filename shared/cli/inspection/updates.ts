/** The status updates of an application that are not acknowledged, since when, and the listener's last failure. */
import * as z from "zod";
import { type Position, waiting } from "../../core/outbox.ts";
import { timeText } from "../../core/time.ts";
import { whenText } from "../io/text.ts";
import type { RecordView } from "./record.ts";

/** The cursor of a delivery. One of another form is not shown. */
const cursor = z.object({
  stream: z.string(),
  acknowledged: z.number(),
  outstanding: z.object({ tries: z.number(), nextAt: z.number(), error: z.string().optional() }).optional(),
});

export type Updates = {
  /** Number of updates that are not acknowledged. */
  readonly waiting: number;
  /** Instant of the oldest of them. */
  readonly since: string;
  readonly tries: number;
  readonly error: string | undefined;
  readonly next: string | undefined;
};

/** The waiting updates; undefined without a listener. */
export const updatesOf = (record: RecordView | undefined, delivery: RecordView | undefined): Updates | undefined => {
  const { outbox } = record ?? {};
  if (outbox === undefined) return undefined;
  const { data } = cursor.safeParse(delivery?.memory);
  const position: Position | undefined =
    data === undefined ? undefined : { stream: data.stream, sequence: data.acknowledged };
  const left = waiting(outbox, position);
  const out = left.length === 0 || data?.stream !== outbox.stream ? undefined : data.outstanding;
  return {
    waiting: left.length,
    since: timeText(left[0]?.at ?? outbox.entries.at(-1)?.at ?? 0),
    tries: out?.tries ?? 0,
    error: out?.error,
    next: out === undefined ? undefined : timeText(out.nextAt),
  };
};

/** One line; "" when nothing waits. */
export const updatesText = (updates: Updates | undefined, now: number): string => {
  if (updates === undefined || updates.waiting === 0) return "";
  const { waiting: left, since, tries, error, next } = updates;
  const last = error === undefined ? "" : `; after ${tries} tries: ${error}`;
  const again = next === undefined ? "" : `; next try ${whenText(Date.parse(next), now)}`;
  return `${left} not acknowledged since ${whenText(Date.parse(since), now)}${last}${again}`;
};
