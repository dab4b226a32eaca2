/** The jobs that CronJobs and JobFlows create: their phases, and which changes of them send the keys of these kinds. It imports
 * none of their decisions. */

import * as z from "zod";
import { fieldsOf, same, withoutNulls } from "../core/json.ts";
import type { Obj, Stored } from "../core/object.ts";
import type { Watch } from "../core/operator.ts";
import type { Effect } from "../core/plan.ts";
import { judgedRemoval } from "../kube/history.ts";
import { isEnding } from "../kube/pods.ts";
import { trim } from "../kube/trim.ts";
import { jobs } from "./schema/resource.ts";

const shown = z.looseObject({
  state: z.looseObject({ phase: z.string().optional(), lastTransitionTime: z.string().optional() }).optional(),
  retryCount: z.number().optional(),
  runningDuration: z.string().optional(),
  taskStatusCount: z
    .record(z.string(), z.looseObject({ phase: z.record(z.string(), z.number()).optional() }))
    .optional(),
});

type Shown = z.infer<typeof shown>;

/** Returns the status of a job; one that does not parse is empty. */
export const shownBy = (job: Obj): Shown => shown.safeParse(withoutNulls(job.status ?? {})).data ?? {};

/** Returns the phase of a job; "" if its status has none. */
export const phaseOf = (job: Obj): string => shownBy(job).state?.phase ?? "";

/** True for jobs that upstream's CronJob takes for finished. */
export const isFinished = (job: Obj): boolean => ["Completed", "Failed", "Terminated"].includes(phaseOf(job));

export const removal = (job: Stored): Effect => judgedRemoval(jobs, job);

const kept = ["state", "retryCount", "runningDuration", "taskStatusCount"] as const;

/** Keeps the fields of a watched job that JobFlows and CronJobs read. */
const trimJob = (job: Stored): Stored => {
  const status = fieldsOf(job.status);
  return { ...trim(job), status: Object.fromEntries(kept.map((field) => [field, status[field]])) };
};

/** True if the job has another phase, or its deletion was requested. */
export const hasMoved = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined || phaseOf(before) !== phaseOf(after) || isEnding(before) !== isEnding(after);

/** True if the job has moved, or the counts of its tasks have changed. */
export const hasProgressed = (before: Obj | undefined, after: Obj): boolean =>
  hasMoved(before, after) || !same(shownBy(before ?? after).taskStatusCount, shownBy(after).taskStatusCount);

/** Watches the jobs that an owner has made. */
export const jobsFor = (ownerName: Watch["ownerName"], matters: Watch["matters"]): Watch => ({
  resource: jobs,
  optional: true,
  trim: trimJob,
  ownerName,
  matters,
});
