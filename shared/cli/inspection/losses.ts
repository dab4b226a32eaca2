/** The executors that a run has lost and why, read from its record. The rest of the record is not parsed. */
import * as z from "zod";
import { timeText } from "../../core/time.ts";
import type { RecordView } from "./record.ts";

const shape = z.object({
  executors: z.object({
    lost: z.record(z.string(), z.number()).default({}),
    losses: z
      .array(
        z.object({
          id: z.number(),
          uid: z.string(),
          pod: z.string().optional(),
          reason: z.string(),
          node: z.string().optional(),
          exitCode: z.number().optional(),
          why: z.string().optional(),
          at: z.number(),
        }),
      )
      .default([]),
  }),
});

type Loss = Omit<z.infer<typeof shape>["executors"]["losses"][number], "at"> & { readonly at: string };

type Losses = {
  /** Number of losses by reason. */
  readonly lost: Readonly<Record<string, number>>;
  /** The latest losses in the record, oldest first. */
  readonly losses: readonly Loss[];
};

/** The losses of the newest run; undefined where the record keeps none. */
export const lossesOf = (record: RecordView | undefined): Losses | undefined => {
  const read = shape.safeParse(record?.memory);
  if (!read.success) return undefined;
  const { lost, losses } = read.data.executors;
  return { lost, losses: losses.map((loss) => ({ ...loss, at: timeText(loss.at) })) };
};

const lastText = ({ id, reason, exitCode, node, at, why }: Loss): string => {
  const details = [exitCode === undefined ? undefined : `exit ${exitCode}`, node, why].filter(Boolean);
  return `executor ${id} ${reason}${details.length === 0 ? "" : ` (${details.join("; ")})`} ${at.slice(11, 19)}`;
};

/** One line: the counts by reason, and the latest loss. An executor that finished is not counted as lost. */
export const lossesText = ({ lost, losses }: Losses): string => {
  const counts = Object.entries(lost)
    .filter(([reason]) => reason !== "finished")
    .map(([reason, count]) => `${count} ${reason}`);
  const last = losses.at(-1);
  return [...(counts.length === 0 ? [] : [counts.join(", ")]), ...(last === undefined ? [] : [lastText(last)])].join(
    "; the last: ",
  );
};
