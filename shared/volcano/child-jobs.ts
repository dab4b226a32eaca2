/** Jobs that a flow or a schedule has made: how they stand, what of them is news, and how they are ended. */
import * as z from "zod";
import { same } from "../core/json.ts";
import type { Obj, Stored } from "../core/object.ts";
import type { Effect } from "../core/plan.ts";
import { instantOf } from "../core/time.ts";
import { isEnding } from "../kube/pods.ts";
import { isRecord } from "../kube/responses.ts";
import { trim } from "../kube/trim.ts";
import { jobs } from "./resource.ts";
import { withoutNulls } from "./schema/absent.ts";

const shown = z.looseObject({
  state: z.looseObject({ phase: z.string().optional(), lastTransitionTime: z.string().optional() }).optional(),
  retryCount: z.number().optional(),
  runningDuration: z.string().optional(),
  taskStatusCount: z
    .record(z.string(), z.looseObject({ phase: z.record(z.string(), z.number()).optional() }))
    .optional(),
});

export type Shown = z.infer<typeof shown>;

/** What a job shows; one that does not parse shows nothing. */
export const shownBy = (job: Obj): Shown => shown.safeParse(withoutNulls(job["status"] ?? {})).data ?? {};

/** "" while it shows none. */
export const phaseOf = (job: Obj): string => shownBy(job).state?.phase ?? "";

/** Those that upstream's CronJob takes for finished. */
export const isFinished = (job: Obj): boolean => ["Completed", "Failed", "Terminated"].includes(phaseOf(job));

/** When the job was created, epoch ms. */
export const createdAt = (job: Stored): number => instantOf(job.metadata.creationTimestamp) ?? 0;

/** By judgement, so not if the job has changed since. */
export const removal = ({ metadata: { name, namespace, uid, resourceVersion } }: Stored): Effect => ({
  do: "delete",
  ref: { resource: jobs, name, ...(namespace === undefined ? {} : { namespace }) },
  uid,
  resourceVersion,
});

/** Name of the job's owner of this kind. */
export const ownerNamed = (job: Obj, kind: string, group: string): string | undefined =>
  job.metadata.ownerReferences?.find((owner) => owner.kind === kind && owner.apiVersion.startsWith(`${group}/`))?.name;

const kept = ["state", "retryCount", "runningDuration", "taskStatusCount"] as const;

/** What is kept of a job while it is watched for its makers' sake. */
export const trimJob = (job: Stored): Stored => {
  const status = isRecord(job["status"]) ? job["status"] : {};
  return { ...trim(job), status: Object.fromEntries(kept.map((field) => [field, status[field]])) };
};

/** It has come to another phase, or is on its way out. */
export const hasMoved = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined || phaseOf(before) !== phaseOf(after) || isEnding(before) !== isEnding(after);

/** The same, and what its tasks do. */
export const hasProgressed = (before: Obj | undefined, after: Obj): boolean =>
  hasMoved(before, after) || !same(shownBy(before ?? after).taskStatusCount, shownBy(after).taskStatusCount);
