/** Compares the due time of a CronJob with the recorded results of upstream's own function. */

import { readSchedule } from "../../../../shared/core/cron.ts";
import { withoutNulls } from "../../../../shared/core/json.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { recentOf } from "../../../../shared/volcano/cron/read.ts";

import { cronSpecSchema } from "../../../../shared/volcano/schema/workflows.ts";
import { type Difference, differences, type Json } from "../compare.ts";
import { recordIn, textIn } from "./rows.ts";

/** Upstream's test of a schedule that never comes passes it beside a CronJob with another schedule. */
const hidden = { shown: "0 * * * ?", meant: "59 23 31 2 *" } as const;

const scheduleOf = (row: Json, { schedule, timeZone }: { schedule: string; timeZone?: string | undefined }) => {
  const isHidden = row["error"] !== undefined && schedule === hidden.shown;
  const read = readSchedule(isHidden ? hidden.meant : schedule, timeZone);
  if (!read.ok) throw new Error(read.error);
  return read.schedule;
};

export const timed = (row: Json): readonly Difference[] => {
  const cronJob = recordIn(row, "cronJob");
  const spec = cronSpecSchema.parse(withoutNulls(cronJob["spec"]));
  const created = textIn(recordIn(cronJob, "metadata"), "creationTimestamp");
  const taken = textIn(recordIn(cronJob, "status"), "lastScheduleTime");
  const { startingDeadlineSeconds } = spec;
  const hasDeadline = row["includeStartingDeadlineSeconds"] === true && startingDeadlineSeconds !== undefined;
  const { earliest, mostRecent, missed, error } = recentOf(scheduleOf(row, spec), {
    after: Date.parse(taken === "" ? created : taken),
    now: Date.parse(textIn(row, "now")),
    ...(hasDeadline ? { deadlineMs: startingDeadlineSeconds * 1_000 } : {}),
  });
  const found = mostRecent === undefined ? {} : { mostRecent: timeText(mostRecent) };
  const recorded = {
    earliest: row["earliest"],
    missed: row["missed"],
    mostRecent: row["mostRecent"],
    error: row["error"],
  };
  return differences({ earliest: timeText(earliest), missed, ...found, error }, recorded);
};
