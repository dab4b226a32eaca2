/** The states that an application has gone through, read from its record. The rest of the record is not parsed. */
import * as z from "zod";
import { timeText } from "../../core/time.ts";
import type { RecordView } from "./record.ts";

const shape = z.object({
  history: z.array(z.object({ phase: z.string(), attempt: z.number(), at: z.number() })),
});

/** Of a Volcano job: the latest entry into each phase. */
const entries = z.object({
  conditions: z.array(z.object({ phase: z.string(), at: z.number() })),
  retryCount: z.number(),
});

export type Passage = { readonly state: string; readonly attempt: number; readonly at: string };

/** The latest states, oldest first; empty where the record keeps none. */
export const historyOf = (record: RecordView | undefined): readonly Passage[] => {
  const read = shape.safeParse(record?.memory);
  const entered = entries.safeParse(record?.memory);
  if (entered.success) {
    const { conditions, retryCount } = entered.data;
    return conditions.map(({ phase, at }) => ({ state: phase, attempt: retryCount + 1, at: timeText(at) }));
  }
  if (!read.success) return [];
  return read.data.history.map(({ phase, attempt, at }) => ({ state: phase, attempt, at: timeText(at) }));
};

/** One line: the latest six states with their times of day. */
export const historyText = (passages: readonly Passage[]): string =>
  passages
    .slice(-6)
    .map(({ state, at }) => `${state} ${at.slice(11, 19)}`)
    .join(" → ");
