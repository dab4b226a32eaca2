/** Past waits of an application, and the times of its saves, as its record tells them. */
import * as z from "zod";
import { isInstant, timeText } from "../core/time.ts";
import { isUsual } from "../core/waiting-on.ts";
import { spanText } from "./io/text.ts";
import type { RecordView } from "./record.ts";

/** An instant in epoch s. */
const second = z.number().refine((at) => isInstant(at * 1_000));

const shape = z.object({
  waits: z.array(z.tuple([z.string(), second, second])).default([]),
  waiting: z.tuple([z.string(), second]).optional(),
  saves: z.array(second).default([]),
});

type Timeline = z.infer<typeof shape>;

export type Wait = {
  readonly for: string;
  readonly from: string;
  /** Absent: it goes on. */
  readonly to?: string;
  /** True: the usual course, in which nothing is in the way. */
  readonly isUsual: boolean;
};

const timelineOf = (record: RecordView | undefined): Timeline =>
  shape.safeParse(record?.timeline).data ?? { waits: [], saves: [] };

const textAt = (second: number): string => timeText(second * 1_000);

/** The latest waits in the order of their ends, the present one last. */
export const waitsOf = (record: RecordView | undefined): readonly Wait[] => {
  const { waits, waiting } = timelineOf(record);
  return [
    ...waits.map(([text, from, to]) => ({ for: text, from: textAt(from), to: textAt(to), isUsual: isUsual(text) })),
    ...(waiting === undefined ? [] : [{ for: waiting[0], from: textAt(waiting[1]), isUsual: isUsual(waiting[0]) }]),
  ];
};

/** Instants of the latest saves, oldest first. */
export const savesOf = (record: RecordView | undefined): readonly string[] => timelineOf(record).saves.map(textAt);

const mostTold = 3;

/** One line: the latest past waits in which something was in the way. */
export const waitedText = (waits: readonly Wait[]): string =>
  waits
    .flatMap((wait) => (wait.to === undefined || wait.isUsual ? [] : [{ ...wait, to: wait.to }]))
    .slice(-mostTold)
    .map(({ for: reason, from, to }) => {
      const tookMs = Date.parse(to) - Date.parse(from);
      return `for ${reason}: ${from.slice(11, 19)} to ${to.slice(11, 19)} (${spanText(tookMs)})`;
    })
    .join("; ");
