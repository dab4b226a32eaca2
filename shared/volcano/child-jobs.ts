/** Jobs that a JobFlow or a CronJob has created: their status, their changes, and their deletion. */
import * as z from "zod";
import { fieldsOf, same } from "../core/json.ts";
import type { Obj, Stored } from "../core/object.ts";
import type { Effect } from "../core/plan.ts";
import { instantOf } from "../core/time.ts";
import { isEnding } from "../kube/pods.ts";
import { trim } from "../kube/trim.ts";
import { withoutNulls } from "./schema/absent.ts";
import { jobs } from "./schema/resource.ts";

const shown = z.looseObject({
  state: z.looseObject({ phase: z.string().optional(), lastTransitionTime: z.string().optional() }).optional(),
  retryCount: z.number().optional(),
  runningDuration: z.string().optional(),
  taskStatusCount: z
    .record(z.string(), z.looseObject({ phase: z.record(z.string(), z.number()).optional() }))
    .optional(),
});

export type Shown = z.infer<typeof shown>;

/** Returns the status of a job; one that does not parse is empty. */
export const shownBy = (job: Obj): Shown => shown.safeParse(withoutNulls(job["status"] ?? {})).data ?? {};

/** Returns the phase of a job; "" if its status has none. */
export const phaseOf = (job: Obj): string => shownBy(job).state?.phase ?? "";

/** True for jobs that upstream's CronJob takes for finished. */
export const isFinished = (job: Obj): boolean => ["Completed", "Failed", "Terminated"].includes(phaseOf(job));

/** When the job was created, epoch ms. */
export const createdAt = (job: Stored): number => instantOf(job.metadata.creationTimestamp) ?? 0;

/** Deletes the job by judgement of its state: not if it has changed since. */
export const removal = ({ metadata: { name, namespace, uid, resourceVersion } }: Stored): Effect => ({
  do: "delete",
  ref: { resource: jobs, name, ...(namespace === undefined ? {} : { namespace }) },
  uid,
  resourceVersion,
});

/** Returns the name of the job's owner of this kind. */
export const ownerNamed = (job: Obj, kind: string, group: string): string | undefined =>
  job.metadata.ownerReferences?.find((owner) => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`))?.name;

const kept = ["state", "retryCount", "runningDuration", "taskStatusCount"] as const;

/** Keeps the fields of a watched job that JobFlows and CronJobs read. */
export const trimJob = (job: Stored): Stored => {
  const status = fieldsOf(job["status"]);
  return { ...trim(job), status: Object.fromEntries(kept.map((field) => [field, status[field]])) };
};

/** True if the job has another phase, or its deletion was requested. */
export const hasMoved = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined || phaseOf(before) !== phaseOf(after) || isEnding(before) !== isEnding(after);

/** True if the job has moved, or the counts of its tasks have changed. */
export const hasProgressed = (before: Obj | undefined, after: Obj): boolean =>
  hasMoved(before, after) || !same(shownBy(before ?? after).taskStatusCount, shownBy(after).taskStatusCount);
