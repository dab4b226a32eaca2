/**
 * An application that Kueue admits: its label names a LocalQueue. A step reads the application's Workload before it decides; the
 * Workload is created, queued again, replaced and given back after all else that the step does.
 *
 * K1. The objects of an attempt are created only by a step that has read the Workload as admitted.
 * K2. Quota is given back only when no pod is left that uses it: at the end of each attempt, so that a restart queues anew,
 *     and after an eviction, so that Kueue queues the same Workload.
 * K3. An attempt stays in the LocalQueue in which it began, with as many executors as were admitted then: a changed label or
 *     spec counts for the next one.
 */
import type { Reads } from "../../core/decision.ts";
import { fieldsOf, recordsIn } from "../../core/json.ts";
import { refTo, type Stored } from "../../core/object.ts";
import { type Effect, notYetRecorded, type Trouble } from "../../core/plan.ts";
import type { WaitingOn } from "../../core/waiting-on.ts";
import {
  assignmentsIn,
  finishing,
  isTrue,
  readyOnce,
  statusWithoutQuota,
  statusWrite,
  untilAdmitted,
  workloads,
} from "../../kube/kueue.ts";
import { readPlacements, withPlacement } from "../../kube/kueue-placement.ts";
import { readRank } from "../../kube/kueue-priority.ts";
import {
  admissionText,
  classOf,
  lossText,
  podSetFor,
  readWorkload,
  requestFailed,
  standingOf,
  takenOver,
  workloadFor,
  workloadNameOf,
} from "../../kube/kueue-workload.ts";
import { hasBeenReady, isEnding, isReady, podSpecIn } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { podSet } from "../executors/flavors.ts";
import type { PlannedPods } from "../submission/planned-pods.ts";
import { type Context, type Quota, queueOf, submissionOf } from "./context.ts";
import { recordOf } from "./memory.ts";
import type { AttemptPods } from "./pods.ts";
import { apacheApplications } from "./resource.ts";
import { isOwnAttempt } from "./run.ts";
import { initialExecutorsOf } from "./spec/run-spec.ts";
import type { Observed, Progress } from "./status/progress.ts";
import { type ApplicationRecord, currentOf, newestOf } from "./status/record.ts";
import { groupOf, isFailure } from "./status/summary.ts";
import { ownerOf } from "./submission.ts";

const nameOf = ({ key: { name }, view: { uid } }: Pick<Context, "key" | "view">): string =>
  workloadNameOf("sparkapplication", apacheApplications, { name, uid });

/** True once the objects of the present attempt have been planned. */
export const isPlanned = ({ view, run }: Context): boolean => view.memory?.run?.attempt === run.attempt;

/** The group of the present state. */
export const groupIn = ({ view, object }: Pick<Context, "view" | "object">) => {
  const record = recordOf(view.memory, object.status);
  return record === undefined ? "initializing" : groupOf(currentOf(record).summary);
};

/** True while a step may make pods of the attempt: its driver, or executors where Rekindle creates them. */
export const mayMakePods = (context: Context): boolean =>
  groupIn(context) === "initializing" || isOwnAttempt(context.view.memory, context.run.attempt);

const podSetsOf = ({ driver, executor, executors }: PlannedPods): readonly Json[] => [
  podSetFor("driver", 1, driver),
  ...(executor === undefined || executors === 0 ? [] : [podSetFor(podSet, executors, executor)]),
];

const classesOf = ({ driver, executor }: PlannedPods): readonly string[] =>
  [driver, executor].map((pod) => classOf(podSpecIn(pod)));

const plannedIn = ({ submission }: Context): PlannedPods | undefined =>
  "refused" in submission ? undefined : submission.planned;

/** Judges the Workload: what an attempt under way asks for was settled when it began. */
const standingIn = (context: Context, queue: string | undefined, workload: Stored | undefined): Quota["standing"] => {
  const isNext = !isPlanned(context) && groupIn(context) === "initializing";
  const planned = isNext ? plannedIn(context) : undefined;
  const { queueName, podSets } = fieldsOf(workload?.spec);
  return standingOf(workload, {
    ...{ object: context.object, queue: isNext ? queue : String(queueName), noun: "the application" },
    podSets: planned === undefined ? recordsIn(podSets) : podSetsOf(planned),
    resized: "the application asks for other numbers of pods",
    classes: planned === undefined ? [] : classesOf(planned),
  });
};

const failedReason = "KueueAdmissionRequestFailed";

/** The refusal of the Workload that this step wanted to create. */
const refusalOf = ({ view }: Context): string | undefined => {
  const refusal = view.refused.find(({ effect }) => effect.do === "create" && effect.resource === workloads);
  return refusal === undefined ? undefined : `${requestFailed}: ${refusal.message}`;
};

/** The words for a lasting trouble with the Workload. */
export const troubleWord = ({ doing, message }: Trouble): Pick<Trouble, "reason" | "message"> | undefined =>
  doing?.do === "create" && doing.kind === workloads.kind
    ? { reason: failedReason, message: `${requestFailed}: ${message}` }
    : undefined;

/** The executors that Kueue has admitted; undefined for none. */
const admittedIn = (workload: Stored): number | undefined => {
  const { count } = assignmentsIn(workload).find(({ name }) => name === podSet) ?? {};
  return typeof count === "number" ? count : undefined;
};

/** The attempt as Kueue has placed it; an executor is built only by the flavors that were assigned to it. */
function* placed(context: Context, quota: Quota, workload: Stored): Reads<Context> {
  const { settings, read, key, view, run } = context;
  if ("refused" in context.submission || !mayMakePods(context)) return { ...context, quota };
  const { placements, lacks } = yield* readPlacements(workload);
  if (lacks !== undefined) return { ...context, quota: { ...quota, lacks }, submission: { refused: lacks } };
  const app = { name: key.name, namespace: key.namespace, uid: view.uid };
  const attempted = { app, attempt: run.attempt, own: context.submission.executors !== undefined, queued: true };
  const submission = submissionOf(settings, read, { ...attempted, placement: placements.get(podSet) });
  const admitted = admittedIn(workload);
  if ("refused" in submission) return { ...context, quota, submission };
  const { metadata, spec } = submission.driver;
  const driver = withPlacement({ metadata, spec: fieldsOf(spec) }, placements.get("driver"));
  return { ...context, quota, admitted, submission: { ...submission, driver: { ...submission.driver, ...driver } } };
}

/** Reads what Kueue says of the application; one that it does not admit is returned as it is. */
export function* withQuota(context: Context): Reads<Context> {
  const { key, view, object, run } = context;
  const queue = queueOf(view.memory, run.attempt, object);
  if (queue === undefined && (isPlanned(context) || view.memory?.run?.queue === undefined)) return context;
  const runs = isPlanned(context) && !["stopping", "terminated"].includes(groupIn(context));
  const workload = yield* readWorkload({ namespace: key.namespace, name: nameOf(context) }, view.uid, runs);
  const standing = standingIn(context, queue, workload);
  const quota: Quota = { queue, workload, standing, lacks: refusalOf(context) };
  if (workload !== undefined && standing.is === "admitted") return yield* placed(context, quota, workload);
  const planned = plannedIn(context);
  if (
    workload !== undefined ||
    planned === undefined ||
    quota.lacks !== undefined ||
    groupIn(context) !== "initializing"
  )
    return { ...context, quota };
  return { ...context, quota: { ...quota, ...(yield* readRank(object, classesOf(planned))) } };
}

/** Returns the quota as the progress of states reads it. An attempt that others began has no Workload here, and goes on without. */
export const admissionOf = (context: Context): Pick<Observed, "planned" | "held" | "lost"> => {
  const { quota } = context;
  const planned = isPlanned(context);
  const { places } = context;
  if (places !== undefined) return { held: true, lost: places.lost, planned };
  if (quota?.queue === undefined) return { planned };
  const { standing, lacks } = quota;
  if (standing.is === "admitted") return { planned, held: lacks !== undefined };
  return { planned, held: true, lost: standing.is === "missing" && !planned ? undefined : lossText(standing) };
};

const event = (context: Context, reason: string, message: string, type: "Normal" | "Warning" = "Normal"): Effect => ({
  ...{ do: "record", about: context.object, resource: apacheApplications, type, reason, message },
  occasion: `${context.run.attempt}${type === "Normal" ? "" : ` ${message}`}`,
});

/** Why the application waits, as its status and its Events say it. */
export const waitText = (context: Context, { queue = "", standing, lacks }: Quota): string =>
  standing.is === "admitted" || lacks !== undefined ? (lacks ?? "") : admissionText(nameOf(context), queue, standing);

/** The wait for the Workload, or for what the step lacks. */
export const admissionWait = ({ queue = "", lacks }: Quota): WaitingOn =>
  lacks === undefined ? untilAdmitted(queue) : { on: "trouble", message: lacks };

/** Events, and the effects that follow them. */
type Told = readonly [events: readonly Effect[], effects: readonly Effect[]];

const created = (context: Context, quota: Quota): Told => {
  const { object, key, view } = context;
  const planned = plannedIn(context);
  const refusal = refusalOf(context);
  if (refusal !== undefined) return [[event(context, failedReason, refusal, "Warning")], []];
  if (planned === undefined || quota.rank === undefined) return [[], []];
  const owner = { ...ownerOf({ name: key.name, namespace: key.namespace, uid: view.uid }), controller: true };
  const { rank } = quota;
  const asked = { object, name: nameOf(context), owner, podSets: podSetsOf(planned), rank, ...takenOver(object) };
  return [
    [event(context, "KueueAdmissionPending", waitText(context, quota))],
    [{ do: "create", object: workloadFor(asked), resource: workloads, owner: view.uid }],
  ];
};

const removed = (workload: Stored): readonly Effect[] =>
  isEnding(workload) ? [] : [{ do: "delete", ref: refTo(workloads, workload), uid: workload.metadata.uid }];

const whileWaiting = (context: Context, quota: Quota): Told => {
  const { workload, standing } = quota;
  if (workload === undefined) return created(context, quota);
  if (standing.is === "outdated") return [[], removed(workload)];
  if (standing.is !== "evicted") return [[], []];
  return [
    [event(context, "KueueAdmissionPending", waitText(context, quota))],
    [statusWrite(workload, statusWithoutQuota(workload, context.view.now))],
  ];
};

/** Gives the quota of an ended application back, whose pods are kept. */
const finished = ({ view }: Context, { history, previous }: ApplicationRecord, workload: Stored): readonly Effect[] => {
  if (isTrue(workload, "Finished")) return [];
  const last = newestOf(history, "stopping") ?? newestOf(previous?.history ?? [], "stopping");
  const succeeded = last !== undefined && !isFailure(last.summary);
  return [finishing(workload, succeeded, `SparkApplication is ${last?.summary ?? "over"}`, view.now)];
};

/** Says that driver and initial executors are ready. */
const readied = ({ read, view }: Context, { workload, standing }: Quota, pods: AttemptPods): readonly Effect[] => {
  if (workload === undefined || standing.is !== "admitted" || !read.ok) return [];
  const wanted = Math.min(admittedIn(workload) ?? 0, initialExecutorsOf(read.spec));
  const there = pods.executors.filter(hasBeenReady).length;
  return readyOnce(workload, pods.driver !== undefined && isReady(pods.driver) && there >= wanted, view.now);
};

type Seen = {
  readonly found: AttemptPods;
  /** No pod uses the quota, and none can come any more. */
  readonly isIdle: boolean;
};

/** The Events before all other effects of a step, and the effects on the Workload after them. */
export const quotaEffects = (context: Context, { act, record }: Progress, { found, isIdle }: Seen): Told => {
  const { quota } = context;
  if (quota === undefined) return [[], []];
  const { workload, queue } = quota;
  const group = groupOf(currentOf(record).summary);
  if (act === "submit" && queue !== undefined) {
    const message = `Kueue has admitted Workload ${nameOf(context)} in LocalQueue ${queue}`;
    return [notYetRecorded(context.view, [event(context, "KueueAdmitted", message)]), []];
  }
  if (act === "follow") return [[], readied(context, quota, found)];
  if (!isIdle) return [[], []];
  if (act === "queue") return whileWaiting(context, quota);
  if (workload === undefined || (act === "release" && group === "initializing")) return [[], []];
  const isKept = act === "rest" && group === "terminated";
  return [[], isKept ? finished(context, record, workload) : removed(workload)];
};

/** True while a Workload may hold quota. */
export const holdsQuota = ({ quota }: Context): boolean =>
  quota?.workload !== undefined && !isTrue(quota.workload, "Finished");

/** True of quota that ends with the attempt: after an eviction the Workload stays, and is queued again. */
export const endsWith = ({ quota }: Context, { record }: Progress): boolean =>
  quota?.workload !== undefined && groupOf(currentOf(record).summary) !== "initializing";
