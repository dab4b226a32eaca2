/**
 * A job that Kueue admits: its label names a LocalQueue. It has its group and its pods only while its Workload is
 * admitted. A step reads the Workload with the job, and ends pods that Kueue no longer admits; the Workload is created,
 * released, replaced and finished after that.
 *
 * Q1. A pod is created only by a step that has read the Workload as admitted.
 * Q2. Quota is given back only when no pod is left that uses it; that of succeeded pods as `reclaimable-pods.ts` says.
 */
import type { Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import {
  finishing,
  isTrue,
  localQueueOf,
  readinessIn,
  statusWithoutQuota,
  statusWrite,
  waitingForKueue,
  workloads,
} from "../../kube/kueue.ts";
import { readPlacements } from "../../kube/kueue-placement.ts";
import { readRank } from "../../kube/kueue-priority.ts";
import { admissionText, lossText, readWorkload, standingOf } from "../../kube/kueue-workload.ts";
import { isEnding } from "../../kube/pods.ts";
import { admittedSpec, shortfalls } from "../kueue/partial-admission.ts";
import { askedBy, classesIn, workloadName, workloadOf } from "../kueue/workload.ts";
import { totalReplicas } from "../schema/spec.ts";
import { type JobContext, ownerOf, podCounts, type Quota, type ReasonMessage, removal } from "./context.ts";
import { isFinished, isWorking } from "./machine.ts";
import { hasFinished, isOver, isReady } from "./pods.ts";
import { reclaimablePods, shortageOf } from "./reclaimable-pods.ts";

/** True if the job has a group or unfinished pods: something of it holds quota, or may begin to. */
const hasStarted = ({ group, members, memory }: Pick<JobContext, "group" | "members" | "memory">): boolean =>
  (group !== undefined && group.metadata.uid !== memory.retired) ||
  members.some((member) => !hasFinished(member) && !isOver(member, memory));

/** The Workload's namespace and name. */
const placeOf = (context: JobContext) => ({
  namespace: context.key.namespace,
  name: workloadName(ownerOf(context)),
});

/** Judges the Workload. One that has given quota back which the job needs again admits it no longer. */
const standingIn = (context: JobContext, workload: Stored | undefined): Quota["standing"] => {
  const { object: job, spec, annotationPolicies } = context;
  const standing = standingOf(workload, askedBy({ job, spec, partial: annotationPolicies.partial }));
  if (workload === undefined || standing.is !== "admitted" || !isWorking(context.memory.phase)) return standing;
  const why = shortageOf(context, workload);
  return why === undefined ? standing : { is: "outdated", why };
};

/** Reads what Kueue says of the job; undefined if its labels name no LocalQueue. */
export function* readQuota(context: JobContext): Reads<Quota | undefined> {
  const { object, spec, members } = context;
  const queue = localQueueOf(object);
  if (queue === undefined) return undefined;
  const workload = yield* readWorkload(placeOf(context), ownerOf(context).uid, hasStarted(context));
  const standing = standingIn(context, workload);
  const none = { queue, workload, standing, placements: new Map() };
  if (!isWorking(context.memory.phase)) return none;
  if (workload === undefined) return { ...none, ...(yield* readRank(object, classesIn(spec))) };
  const mayCreate = standing.is === "admitted" && members.length < totalReplicas(admittedSpec(spec, workload));
  return mayCreate ? { ...none, ...(yield* readPlacements(workload)) } : none;
}

/** Returns the job as far as Kueue has admitted it: with a part of its pods, it is judged as one that asks for no more. */
export const admittedPart = (context: JobContext, { workload }: Quota): JobContext => {
  const spec = admittedSpec(context.spec, workload);
  const reason = "PartiallyAdmitted";
  const short = shortfalls(context.spec, spec).map((text) => ({ reason, message: `Kueue has admitted ${text}` }));
  return { ...context, spec, problems: [...context.problems, ...short] };
};

/** Returns why the pods of the job must end; undefined if they need not. */
export const lossOf = (context: JobContext): string | undefined => {
  const { quota } = context;
  if (quota === undefined || quota.standing.is === "admitted" || !hasStarted(context)) return undefined;
  return lossText(quota.standing);
};

/** True if no pod of the job uses quota any more. */
const isDrained = ({ members }: JobContext): boolean => members.every(hasFinished);

type Stages = readonly (readonly Effect[])[];

/** Gives the quota of an evicted Workload back, as Kueue's own integrations do: it is queued again. */
const released = ({ view }: JobContext, workload: Stored): Effect =>
  statusWrite(workload, statusWithoutQuota(workload, view.now));

/** Marks the Workload of an ended job as finished, which gives its quota back. */
const ended = (context: JobContext, workload: Stored): Stages => {
  const { phase, why } = context.memory;
  const message = `Job is ${phase}${why === undefined ? "" : `: ${why.message}`}`;
  return [[finishing(workload, phase === "Completed", message, context.view.now)]];
};

/** True if the pods that the job needs are ready or have succeeded. */
const arePodsReady = (context: JobContext): boolean => {
  const { members, memory } = context;
  const ready = members.filter((member) => !member.ending && !isOver(member, memory) && isReady(member)).length;
  const { succeeded, minAvailable } = podCounts(context);
  return memory.phase === "Running" && ready + succeeded >= minAvailable;
};

/** Returns what an admitted job tells Kueue: whether its pods are ready, and whose quota it needs no more. */
const progress = (context: JobContext, workload: Stored): readonly Effect[] => {
  const reclaimable = reclaimablePods(context, workload);
  const status = {
    ...readinessIn(workload, arePodsReady(context), context.view.now),
    ...(reclaimable === undefined ? {} : { reclaimablePods: reclaimable }),
  };
  return Object.keys(status).length === 0 ? [] : [statusWrite(workload, status)];
};

const created = (context: JobContext): Stages => {
  const { object, spec, quota, annotationPolicies } = context;
  if (quota?.rank === undefined || annotationPolicies.suspend === "true") return [];
  const owner = ownerOf(context);
  const { partial } = annotationPolicies;
  const workload = workloadOf({ object, owner, spec, rank: quota.rank, partial });
  return [[{ do: "create", object: workload, resource: workloads, owner: owner.uid }]];
};

const removed = (workload: Stored): Stages => (isEnding(workload) ? [] : [[removal(workloads, workload)]]);

/** The effects for a job that is to run. */
const forWork = (context: JobContext, { workload, standing }: Quota): Stages => {
  if (standing.is === "admitted") return workload === undefined ? [] : [progress(context, workload)];
  if (!isDrained(context) || hasStarted(context)) return [];
  if (workload === undefined) return created(context);
  if (standing.is === "evicted") return [[released(context, workload)]];
  return standing.is === "outdated" ? removed(workload) : [];
};

/** Returns the effects on the Workload, in stages, after the job's action. */
export const quotaEffects = (context: JobContext): Stages => {
  const { quota, memory } = context;
  if (quota === undefined) return [];
  const { workload } = quota;
  if (isWorking(memory.phase)) return forWork(context, quota);
  if (workload === undefined || !isFinished(memory.phase) || !isDrained(context)) return [];
  // An aborted job may be resumed: it is queued again then.
  if (memory.phase === "Aborted") return removed(workload);
  return isTrue(workload, "Finished") ? [] : ended(context, workload);
};

/** Returns the reason that the status shows while Kueue does not admit the job. */
export const quotaWord = (context: JobContext): ReasonMessage | undefined => {
  const { quota, memory } = context;
  if (quota === undefined || quota.standing.is === "admitted" || !isWorking(memory.phase)) return undefined;
  const waits = admissionText(workloadName(ownerOf(context)), quota.queue, quota.standing);
  const parts = [memory.why?.message ?? "", waits];
  return { reason: waitingForKueue, message: parts.filter((part) => part !== "").join("; ") };
};
