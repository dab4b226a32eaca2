/**
 * The decision of one step of Apache's SparkApplication: observes the pods of its attempt, lets `progress` find the next
 * states, and turns the act that these ask for into effects. Pure.
 */
import { all, type Decision, list, type Reads } from "../../core/decision.ts";
import { fieldsOf } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { refTo, type Stored } from "../../core/object.ts";
import {
  type Effect,
  type Next,
  notYetRecorded,
  onLiveReads,
  type Plan,
  type PlannedStatus,
  type Safety,
  soonest,
  type View,
} from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import { workloads } from "../../kube/kueue.ts";
import { appUidLabel, isEnding, isOver, labelOf, ownedBy, podStatus, waitingReason } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { prefixOf } from "../executor-pod/builder.ts";
import type { ExecutorBasis } from "../executor-pod/request.ts";
import { newAllotment, settlesAt } from "../executors/allotment.ts";
import { type ApacheSettings, type Context, contextOf, type PlacesWait, unread } from "./context.ts";
import { creation, removals } from "./effects.ts";
import { careForExecutors, closedAccount, type ExecutorCare, outliving, withAccount } from "./executors.ts";
import { type Memory, type Run, recordOf, remembering } from "./memory.ts";
import { type AttemptPods, readPods } from "./pods.ts";
import { admissionOf, admissionWait, endsWith, holdsQuota, quotaEffects, waitText, withQuota } from "./quota.ts";
import { apacheApplications, beside, isSpared, sentinelLabel, upstreamFinalizer } from "./resource.ts";
import { driverNameOf, isOwnAttempt } from "./run.ts";
import { tolerationsOf, unservedIn } from "./spec/read.ts";
import type { ReadSpec } from "./spec/reader.ts";
import { builtFrom } from "./spec/run-spec.ts";
import type { ApacheSpec } from "./spec/schema.ts";
import { stateEvents } from "./status/events.ts";
import { heldUpText, statusSaying } from "./status/history.ts";
import { type Observed, type Progress, progress } from "./status/progress.ts";
import { type ApplicationRecord, currentOf, submittedAt } from "./status/record.ts";
import { groupOf, isFailure, isSummary } from "./status/summary.ts";

/** Why no attempt can be submitted. A refusal of the API server counts while its objects are being created. */
const refusalIn = ({ object, read, submission, view, settings }: Context): Observed["refused"] => {
  if (!read.ok) return { as: "Failed", message: read.message };
  const unserved = unservedIn(object, "application", settings.apacheGang !== undefined);
  if (unserved.length > 0) return { as: "Failed", message: unserved.join("; ") };
  if ("refused" in submission) return { as: "SchedulingFailure", message: submission.refused };
  const refusal = view.refused.find(({ effect }) => effect.do === "create" && effect.resource !== workloads);
  return refusal === undefined ? undefined : { as: "SchedulingFailure", message: refusal.message };
};

const isDriverMade = ({ view: { done = [] }, run }: Context): boolean =>
  done.some(
    (effect) => effect.do === "create" && effect.resource === pods && effect.object.metadata.name === driverNameOf(run),
  );

const observed = (context: Context, { driver, executors }: AttemptPods, released: boolean): Observed => {
  const { view, object, read, run } = context;
  const refused = refusalIn(context);
  const made = isDriverMade(context);
  const absent = made || view.returning !== undefined ? "unseen" : "gone";
  return {
    now: view.now,
    // An attempt that has lost its places did not fail, whatever became of its driver.
    driver: context.places?.lost === undefined ? (driver ?? absent) : "unseen",
    main: run.main,
    executors,
    ...(isOwnAttempt(view.memory, run.attempt) ? { executorsAt: run.executorsAt ?? view.now } : {}),
    created: driver !== undefined || made,
    released,
    ...(refused === undefined ? {} : { refused }),
    ...admissionOf(context),
    suspended: read.ok && read.spec.suspend === true,
    deleting: isEnding(object),
  };
};

const lookAt = (context: Context, found: AttemptPods, released: boolean): Progress => {
  const { view, object, read, settings } = context;
  const policy = { ...tolerationsOf(read.ok ? read.spec : unread), trims: settings.options.apacheTrimsHistory };
  return progress(recordOf(view.memory, object.status), policy, observed(context, found, released));
};

/** The objects beside the driver that are the application's. */
function* othersOf({ key: { namespace }, view: { uid } }: Context): Reads<readonly Stored[]> {
  const lists = yield* all(
    beside.map((resource) =>
      list({
        ...{ do: "list", resource, namespace, labels: { [appUidLabel]: uid } },
        ...(isSpared(resource) ? { spared: true } : {}),
      }),
    ),
  );
  return lists.flat().filter((object) => ownedBy(object, uid));
}

/** When no creation of a plan can arrive any more, epoch ms. */
const settledAt = ({ view, settings: { settledMs } }: Context): number => {
  const { plannedAt = 0, allotment } = view.memory ?? {};
  const rounds = (allotment?.underway ?? []).map((round) => settlesAt(round, settledMs));
  return Math.max(plannedAt + settledMs, ...rounds);
};

/** Poll interval, ms. An event usually reports a change; the poll covers a lost event. */
const pollMs = 15_000;

type Turn = {
  readonly memory: Memory;
  readonly stages: readonly (readonly Effect[])[];
  readonly next: Next;
  readonly safety?: Safety;
  /** Where it says more than the memory. */
  readonly status?: PlannedStatus | undefined;
};

/** The attempt as its plan is remembered; with the ids of its executors, where Rekindle creates them. */
const planned = (
  { allotment }: Memory,
  run: Run,
  read: ReadSpec<ApacheSpec>,
  executors: ExecutorBasis | undefined,
): Pick<Memory, "run" | "allotment"> => {
  if (executors === undefined || !read.ok) return { run };
  const isKept = allotment?.attempt === run.attempt;
  return {
    run: { ...run, builtFrom: builtFrom(read.spec) },
    allotment: isKept ? allotment : newAllotment(run.attempt, prefixOf(executors), allotment),
  };
};

/** The objects that the driver mounts are there before it. */
const submit = ({ view, run: begun, submission, read, quota }: Context, memory: Memory): Turn => {
  const run = quota?.queue === undefined ? begun : { ...begun, queue: quota.queue };
  const { before, driver, executors } =
    "refused" in submission ? { before: [], driver: undefined, executors: undefined } : submission;
  return {
    memory: { ...memory, ...planned(memory, run, read, executors), plannedAt: view.now },
    stages: [
      before.flatMap((object) => creation(object, view.uid)),
      driver === undefined ? [] : creation(driver, view.uid),
    ],
    next: { do: "continue", pollMs, waitsFor: until("its driver", "created") },
    safety: { fenced: true },
  };
};

const follow = (
  { run, view, quota }: Context,
  memory: Memory,
  { look, found: { driver, executors }, care }: Found,
): Turn => {
  const isSeen = isOwnAttempt(memory, run.attempt) && run.executorsAt === undefined && executors.length > 0;
  const known = {
    ...run,
    ...(driver === undefined ? {} : { driverUid: driver.metadata.uid }),
    ...(isSeen ? { executorsAt: view.now } : {}),
    // A lost record has lost the queue, too.
    ...(quota?.queue === undefined || quota.workload === undefined ? {} : { queue: quota.queue }),
  };
  const isRunning = groupOf(currentOf(look.record).summary) === "running";
  const why = driver === undefined ? undefined : waitingReason(podStatus(driver));
  const waitsFor = isRunning ? until("its driver", "finished") : until("its driver", "started", why);
  return {
    memory: { ...memory, run: known },
    stages: care?.stages ?? [],
    next: {
      ...{ do: "wait", waitsFor },
      ...(driver === undefined ? { pollMs } : {}),
      ...care?.wait,
      ...soonest(look.wakeAt, care?.wait.wakeAt),
    },
    ...(care === undefined ? {} : { safety: care.safety }),
  };
};

/** Deletes what is left once no creation can arrive any more: until then the objects keep their names from being made again. */
const release = (context: Context, memory: Memory, look: Progress, left: readonly Stored[]): Turn => {
  const { now } = context.view;
  const at = settledAt(context);
  const times = [look.wakeAt ?? 0, at].filter((time) => time > now);
  return {
    memory,
    stages: now < at ? [] : [removals(left, look.force === true)],
    next: {
      do: "wait",
      pollMs,
      ...(times.length === 0 ? {} : { wakeAt: Math.min(...times) }),
      waitsFor: { on: "leftovers", objects: left.length },
    },
  };
};

const rest = (context: Context, memory: Memory, { look: { wakeAt }, found, isIdle }: Found): Turn => {
  const { read, view } = context;
  const isUsed = holdsQuota(context) && !isIdle;
  const left = outliving(context, found);
  const settled = settledAt(context);
  const mayCome = view.now < settled && (isUsed || isOwnAttempt(memory, context.run.attempt));
  if (left.length > 0 || mayCome) {
    const times = [wakeAt, settled].filter((at) => at !== undefined && at > view.now);
    const waitsFor = { on: "leftovers", objects: left.length } as const;
    return { memory, stages: [removals(left, false)], next: { do: "wait", pollMs, ...soonest(...times), waitsFor } };
  }
  if (isUsed)
    return { memory, stages: [], next: { do: "wait", ...soonest(wakeAt), waitsFor: until("its driver", "ended") } };
  if (wakeAt !== undefined)
    return { memory, stages: [], next: { do: "wait", wakeAt, waitsFor: { on: "time", of: "time" } } };
  const isSuspended = read.ok && read.spec.suspend === true;
  const waitsFor = isSuspended ? ({ on: "field", path: "spec.suspend", value: "false" } as const) : undefined;
  return { memory, stages: [], next: { do: "rest", ...(waitsFor === undefined ? {} : { waitsFor }) } };
};

/** Waits before the driver is created. The status says so until the next state. */
const queued = (memory: Memory, { text, waitsFor, stage }: PlacesWait): Turn => ({
  memory,
  stages: [stage],
  next: { do: "wait", pollMs, waitsFor },
  status: statusSaying(memory.status, text, { isState: isSummary, stays: () => false }),
});

/** The wait of an attempt for places or for Kueue; undefined: it waits for neither. */
const admissionIn = (context: Context): PlacesWait | undefined => {
  const { places, quota } = context;
  if (places !== undefined || quota === undefined) return places;
  return { text: waitText(context, quota), waitsFor: admissionWait(quota), stage: [] };
};

/** The wait for executors without a driver, whose pod was deleted before a step saw it; undefined: there are none. */
const orphansWait = ({ driver, executors }: AttemptPods): PlacesWait | undefined => {
  const orphans = driver === undefined ? executors.filter((pod) => !isOver(podStatus(pod))) : [];
  if (orphans.length === 0) return undefined;
  const text = heldUpText(`executors of a driver that was deleted end first: ${orphans.length}`);
  return { text, waitsFor: { on: "leftovers", objects: orphans.length }, stage: removals(orphans, false) };
};

/** Ends the application itself: deletes it, or removes upstream's finalizer from one under deletion. */
const leave = ({ object }: Context, memory: Memory, act: "expire" | "finish"): Turn => {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const ref = refTo(apacheApplications, object);
  const others = finalizers.filter((name) => name !== upstreamFinalizer);
  const effects: readonly Effect[] =
    act === "expire"
      ? [{ do: "delete", ref, uid }]
      : others.length === finalizers.length
        ? []
        : [{ do: "patch", ref, uid, resourceVersion, patch: { metadata: { finalizers: others } } }];
  return { memory, stages: [effects], next: { do: "wait", waitsFor: { on: "deletion" } } };
};

type Found = {
  readonly found: AttemptPods;
  readonly left: readonly Stored[];
  readonly look: Progress;
  /** No pod uses quota, and none can come any more. */
  readonly isIdle: boolean;
  /** Absent before a driver has started, and after the step that sees it end. */
  readonly care?: ExecutorCare;
};

/** True of the record of an attempt that no earlier step has seen end. */
const isUnder = (record: ApplicationRecord | undefined): boolean =>
  record === undefined || !["stopping", "terminated"].includes(groupOf(currentOf(record).summary));

/** Cares for the executors from the start of the driver until its end, or that of the application. */
function* caredFor(context: Context, found: AttemptPods, look: Progress): Reads<Pick<Found, "care">> {
  const { read, view, object } = context;
  if (look.act !== "follow")
    return isUnder(recordOf(view.memory, object.status)) ? { care: closedAccount(context, found) } : {};
  if (!read.ok || found.driver === undefined) return {};
  if (currentOf(look.record).summary === "DriverRequested") return {};
  return { care: yield* careForExecutors(context, read.spec, { ...found, driver: found.driver }) };
}

/** Looks once more where objects are to be released: whether any is left decides the next state. */
function* lookAround(context: Context): Reads<Found> {
  const { view, key, run, object } = context;
  const record = recordOf(view.memory, object.status);
  const expects = record !== undefined && groupOf(currentOf(record).summary) !== "initializing";
  const found = yield* readPods(key, view.uid, run, expects);
  const look = lookAt(context, found, false);
  const care = yield* caredFor(context, found, look);
  const own = [...(found.driver === undefined ? [] : [found.driver]), ...found.executors, ...found.strays];
  const settled = view.now >= settledAt(context);
  const isIdle = settled && own.every((pod) => isOver(podStatus(pod)));
  if (look.act !== "release") return { found, left: [], look, isIdle, ...care };
  const left = [...own, ...(yield* othersOf(context))];
  const released = left.length === 0 && settled && !endsWith(context, look);
  return { found, left, look: released ? lookAt(context, found, true) : look, isIdle, ...care };
}

const turnOf = (context: Context, kept: Memory, around: Found): Turn => {
  const { left, look, care } = around;
  const memory = care === undefined ? kept : withAccount(kept, care);
  switch (look.act) {
    case "queue": {
      const admission = admissionIn(context);
      return admission === undefined ? rest(context, memory, around) : queued(memory, admission);
    }
    case "submit": {
      const orphans = orphansWait(around.found);
      return orphans === undefined ? submit(context, memory) : queued(memory, orphans);
    }
    case "follow":
      return follow(context, memory, around);
    case "release":
      return release(context, memory, look, left);
    case "rest":
      return rest(context, memory, around);
    case "expire":
    case "finish":
      return leave(context, memory, look.act);
  }
};

/** States that their user should look at, beside failures. */
const watched: readonly string[] = ["RunningWithBelowThresholdExecutors", "TerminatedWithoutReleaseResources"];

const eventsOf = ({ view, object }: Context, { history, previous }: ApplicationRecord): readonly Effect[] =>
  stateEvents(view, object, {
    resource: apacheApplications,
    entries: [...(previous?.history ?? []), ...history],
    warns: (summary) => watched.includes(summary) || (isSummary(summary) && isFailure(summary)),
  });

const planOf = (context: Context, around: Found): Plan<Memory> => {
  const { view } = context;
  const { found, left, look, care } = around;
  const first = care?.cordons.length ? care.cordons : notYetRecorded(view, care?.events ?? []);
  if (view.memory !== undefined && first.length > 0)
    return onLiveReads({ memory: view.memory, stages: [first], next: { do: "continue" } });
  const {
    memory,
    stages,
    next,
    safety,
    status = memory.status,
  } = turnOf(context, remembering(view.memory, look.record), around);
  const [told, quota] = quotaEffects(context, look, around);
  const strays = look.act === "release" ? [] : removals(found.strays, false);
  return {
    memory,
    // The Events come first, because the status shows their states also where the platform refuses an effect.
    stages: [[...eventsOf(context, look.record), ...told], strays, ...stages, quota].filter(({ length }) => length > 0),
    status,
    next,
    // A driver that is gone, and objects of which none is left, are concluded from live reads alone.
    safety: {
      ...safety,
      ...((found.driver === undefined && left.length === 0) || quota.length > 0 ? { live: true } : {}),
    },
  };
};

function* act(read: Context): Decision<Memory> {
  const context = yield* withQuota(read);
  return planOf(context, yield* lookAround(context));
}

/** Decides one step of an application. It owns its objects, so that garbage collection deletes them. */
export function* decide(settings: ApacheSettings, key: Key, view: View<Memory>): Decision<Memory> {
  const { object } = view;
  const memory = view.memory ?? remembering(undefined, submittedAt(view.now));
  if (object === undefined) return { memory, stages: [], next: { do: "forget" } };
  if (labelOf(object, sentinelLabel) === "true")
    return { memory, stages: [], next: { do: "rest" }, safety: { statusIsRecord: true } };
  const context = contextOf(settings, key, view, object);
  return yield* settings.apacheGang === undefined ? act(context) : settings.apacheGang(context, act);
}

/** Returns the status of the plan, or else the one shown, with the trouble; the reason why an attempt ended stays. */
export const heldUp = (
  object: Stored,
  message: string,
  planned?: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined =>
  statusSaying(planned ?? fieldsOf(object.status), heldUpText(message), {
    isState: isSummary,
    stays: (summary) => ["stopping", "terminated"].includes(groupOf(summary)),
  });

/** The state of a plan for the application's listener. */
export const statusUpdate = ({ memory }: Plan<Memory>) => {
  const record = recordOf(memory, undefined);
  if (record === undefined) return undefined;
  const { summary } = currentOf(record);
  return { state: summary, attempt: record.attempt.id, terminal: groupOf(summary) === "terminated" };
};
