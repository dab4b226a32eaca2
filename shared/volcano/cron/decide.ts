/**
 * The decision of one step of a CronJob, and the CronJob as the engine knows it: what to watch, how to read its
 * memory, which updates to send, how to recover. A time is taken once: its job is named after it, and a save decides
 * on it, so no time is taken twice whatever is lost. Pure.
 *
 * No job is deleted before `settledMs` have passed since its creation: until then a slow invocation could still create
 * it, and a deleted job would come again.
 */
import { nextAfterMissed } from "../../core/cron.ts";
import { type Decision, list } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import {
  type Effect,
  type Follows,
  nextUntil,
  notYetRecorded,
  type OwnedObjects,
  type Plan,
  type Rebuilt,
  type Recovery,
  type Refusal,
  type Remains,
  type View,
} from "../../core/plan.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until } from "../../core/waiting-on.ts";
import { prunedAt, settledAt, timingOf } from "../../kube/history.ts";
import { isEnding } from "../../kube/pods.ts";
import { isFinished, removal } from "../child-jobs.ts";
import { component } from "../schema/resource.ts";
import {
  type CreatedJobs,
  creation,
  cronEvent,
  eventsOfEndedJobs,
  jobName,
  jobsOf,
  type Memory,
  parseMemory,
  projected,
  salvageMemory,
  seeded,
  sortOut,
  tickOf,
  withSuccess,
} from "./memory.ts";
import { type Desired, type Read, type Recent, readCronSpec, recentOf } from "./read.ts";
import { cronJobWatcher } from "./watches.ts";

/** The settings of a deployment for all CronJobs: see engine/settings.ts. */
type Settings = { readonly settledMs: number };

type CronContext = {
  readonly object: Stored;
  readonly memory: Memory;
  readonly desired: Desired;
  readonly made: CreatedJobs;
  readonly now: number;
  readonly settings: Settings;
  /** The schedule has changed, or is seen for the first time. */
  readonly fresh: boolean;
};

/** Counts the times of a changed schedule from `now` on, without those that it would have had before. */
const retimed = (memory: Memory, timing: string, now: number): Memory =>
  memory.timing === timing ? memory : { ...memory, timing, since: Math.max(memory.since, now) };

/** Takes the time of a job that was decided on as soon as the job is seen. */
const seen = (memory: Memory, { all }: CreatedJobs): Memory => {
  const { starting, refusal: _, ...rest } = memory;
  if (starting === undefined || !all.some(({ metadata }) => metadata.name === starting.name)) return memory;
  return { ...rest, taken: starting.tick, since: Math.max(memory.since, starting.tick) };
};

/**
 * Returns the Event about a created job when the job is seen. It is recorded before the memory notes the job: after a
 * death in between, the next step records the same Event.
 */
const created = (object: Stored, { starting: given }: Memory, { all }: CreatedJobs): readonly Effect[] => {
  if (given === undefined || !all.some(({ metadata }) => metadata.name === given.name)) return [];
  const message = `Created job ${given.name} for CronJob ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
  return [cronEvent(object, given.name, { type: "Normal", reason: "SuccessfulCreate", message })];
};

type Pruned = { readonly removals: readonly Effect[]; readonly again: number };

/** Deletes finished jobs beyond the limits, the oldest, when they may be deleted; `again`: when the next may be. */
const pruned = ({ object, desired: { keep }, made, now, settings }: CronContext): Pruned => {
  const beyond = (ended: readonly Stored[], limit: number | undefined): readonly Stored[] =>
    limit === undefined ? [] : ended.slice(Math.max(0, limit));
  const excess = [...beyond(made.successful, keep.successful), ...beyond(made.failed, keep.failed)];
  const { due, again } = prunedAt(excess, settings.settledMs, now);
  return { removals: due.flatMap((job) => ended(object, job)), again };
};

const ended = (object: Stored, job: Stored): readonly Effect[] => [
  removal(job),
  cronEvent(object, job.metadata.uid, {
    type: "Normal",
    reason: "SuccessfulDelete",
    message: `Deleted job ${JSON.stringify(job.metadata.name)}`,
  }),
];

type Ahead = Follows & {
  readonly stages?: readonly (readonly Effect[])[];
  /** Epoch ms; absent: nothing is waited for. */
  readonly at?: number | undefined;
};

const planOf = (context: CronContext, memory: Memory, ahead: Ahead): Plan<Memory> => {
  const { object, made } = context;
  const history = pruned(context);
  const wakeAt = Math.min(ahead.at ?? Number.POSITIVE_INFINITY, history.again);
  // A creation that fails for as long as a quota or a policy refuses it keeps nothing else from being done.
  const all = [history.removals, eventsOfEndedJobs(object, made), ...(ahead.stages ?? [])];
  return {
    memory,
    stages: all.filter((stage) => stage.length > 0),
    status: projected(memory, made),
    next: nextUntil(wakeAt, ahead),
  };
};

/** Returns the next time after the one that is due, or after `now` if that one is unknown. */
const nextTime = ({ desired, now }: CronContext, { earliest, mostRecent, missed }: Recent): number | undefined => {
  return nextAfterMissed(desired.schedule, mostRecent ?? (missed === "none" ? earliest : now), now);
};

/** Creates the job that was decided on. It counts as created when the next step sees it. */
const starting = (
  context: CronContext,
  memory: Memory,
  at: number | undefined,
  before: readonly Effect[] = [],
): Plan<Memory> => {
  const { object, desired } = context;
  const { tick, name } = memory.starting ?? { tick: memory.since, name: "" };
  const stages = [before, [creation(object, desired, tick)]];
  return planOf(context, memory, { stages, at, follows: "again", waitsFor: until(`its job ${name}`, "created") });
};

/** Returns the deletion of the jobs that the new one replaces, and when all of them may be deleted. */
const outgoing = ({ object, desired: { policy }, made, settings }: CronContext, tick: number) => {
  if (policy !== "Replace") return { ends: [], from: 0 };
  const others = made.active.filter((job) => !isEnding(job));
  const event = cronEvent(object, `${tick}`, {
    reason: "ReplaceConcurrent",
    message: "Replacing active job for CronJob",
  });
  return {
    ends: others.length === 0 ? [] : [event, ...others.flatMap((job) => ended(object, job))],
    from: Math.max(0, settledAt(others, settings.settledMs)),
  };
};

const skipped = "Skipping job creation because another job is already running";

/** Plans a due time: its job runs beside others, waits, or replaces them. */
const due = (context: CronContext, memory: Memory, recent: Recent, tick: number): Plan<Memory> => {
  const { object, desired, made, now } = context;
  const [at, name] = [nextTime(context, recent), jobName(object.metadata.name, tick)];
  if (made.all.some(({ metadata }) => metadata.name === name))
    return planOf(context, { ...memory, taken: tick, since: tick }, { at, waitsFor: { on: "time", of: "time" } });
  const [other] = made.active;
  if (desired.policy === "Forbid" && other !== undefined) {
    const stages = [[cronEvent(object, `${tick}`, { reason: "ForbidConcurrent", message: skipped })]];
    return planOf(context, memory, {
      stages,
      at,
      waitsFor: until(other.metadata.name, "ended", "concurrencyPolicy Forbid"),
    });
  }
  const { ends, from } = outgoing(context, tick);
  if (from > now)
    return planOf(context, memory, { at: from, waitsFor: until(other?.metadata.name ?? "", "replaceable") });
  const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
  const many =
    recent.missed === "many" ? [cronEvent(object, `${tick}`, { reason: "TooManyMissedTimes", message })] : [];
  return starting(context, { ...memory, starting: { name, tick } }, at, [...ends, ...many]);
};

const zoned = ({ object, desired, fresh }: CronContext): readonly Effect[] => {
  if (!desired.ownZone || !fresh) return [];
  const message =
    "CRON_TZ or TZ in the schedule is not officially supported: it counts, and spec.timeZone does not. Set spec.timeZone instead";
  return [cronEvent(object, `${object.metadata.generation ?? 0}`, { reason: "UnsupportedSchedule", message })];
};

/** Gives up a job that could not be created before its deadline: its time is missed. */
const inTime = (memory: Memory, { deadlineMs }: Desired, now: number): Memory => {
  const { starting: late, ...rest } = memory;
  if (late === undefined || deadlineMs === undefined || now - late.tick <= deadlineMs) return memory;
  return { ...rest, since: Math.max(rest.since, late.tick) };
};

const go = (context: CronContext): Plan<Memory> => {
  const { object, desired, made, now } = context;
  const memory = inTime(context.memory, desired, now);
  if (desired.suspended) {
    // An active job will finish and belong to the history, so a resync must look at the key.
    const follows = made.active.length === 0 ? ({ follows: "rest" } as const) : {};
    return planOf(context, memory, { ...follows, waitsFor: { on: "field", path: "spec.suspend", value: "false" } });
  }
  const recent = recentOf(desired.schedule, { after: memory.since, now, deadlineMs: desired.deadlineMs });
  if (recent.error !== undefined) {
    const read = { reason: "InvalidSchedule", message: `Error getting schedule time: ${recent.error}` };
    return invalid(object, memory, made, read);
  }
  if (memory.starting !== undefined)
    return starting(context, memory, nextTime(context, recent), outgoing(context, memory.starting.tick).ends);
  if (recent.mostRecent !== undefined) return due(context, memory, recent, recent.mostRecent);
  const stages = [zoned(context)];
  return planOf(context, memory, { stages, at: nextTime(context, recent), waitsFor: { on: "time", of: "time" } });
};

/** Creates and deletes nothing while the spec is invalid. */
const invalid = (
  object: Stored,
  memory: Memory,
  made: CreatedJobs,
  read: Omit<Extract<Read, { ok: false }>, "ok">,
): Plan<Memory> => ({
  memory,
  stages: [[cronEvent(object, `${object.metadata.generation ?? 0}`, read), ...eventsOfEndedJobs(object, made)]],
  status: projected(memory, made),
  next: { do: "rest", waitsFor: until("its spec", "corrected", read.message) },
});

/** The most characters of a refusal: those of a status update's message. */
const longestRefusal = 500;

/** Gives up a job that the API server refuses and reports it; the next time tries again. */
const refused = (context: CronContext, { reason, message }: Refusal): Plan<Memory> => {
  const { starting: given, ...rest } = context.memory;
  const tick = given?.tick ?? rest.since;
  const word = {
    reason: reason === "NameTaken" ? "ForeignJob" : "FailedCreate",
    message: `Failed to create job: ${message}`,
  };
  const memory = { ...rest, since: Math.max(rest.since, tick), refusal: word.message.slice(0, longestRefusal) };
  const recent = recentOf(context.desired.schedule, { after: memory.since, now: context.now });
  const stages = [[cronEvent(context.object, `${tick}`, word)]];
  return planOf(context, memory, {
    stages,
    at: nextTime(context, recent),
    waitsFor: { on: "time", of: "time", note: word.message },
  });
};

/** Decides one step of a CronJob. Its jobs are owned by it and garbage collected with it. */
function* decide(settings: Settings, key: Key, view: View<Memory>): Decision<Memory> {
  const { object, now } = view;
  if (object === undefined)
    return { memory: view.memory ?? { timing: "", since: now }, stages: [], next: { do: "forget" } };
  const timing = timingOf(object);
  const before = view.memory ?? seeded(object, timing, now);
  if (isEnding(object)) return { memory: before, stages: [], next: { do: "rest" } };
  const made = sortOut(yield* list(jobsOf(key)), view.uid);
  const news = notYetRecorded(view, created(object, before, made));
  if (news.length > 0) return { memory: before, stages: [news], next: { do: "continue" } };
  const memory = withSuccess(seen(before, made), made);
  const read = readCronSpec(object);
  if (!read.ok) return invalid(object, memory, made, read);
  const fresh = view.memory?.timing !== timing;
  const context: CronContext = {
    object,
    memory: retimed(memory, timing, now),
    desired: read.desired,
    made,
    now,
    settings,
    fresh,
  };
  const [refusal] = view.refused.filter(({ effect }) => effect.do === "create");
  return refusal === undefined ? go(context) : refused(context, refusal);
}

const ownedObjects = (key: Key, uid: string): OwnedObjects => ({ queries: [jobsOf(key)], owners: [uid] });

/** Returns the latest time whose job exists, epoch ms; 0 if none does. */
const latestIn = ({ object, found: [there = []] }: Remains): number => {
  const { all } = sortOut(there, object.metadata.uid);
  return Math.max(0, ...all.map((job) => tickOf(object.metadata.name, job) ?? 0));
};

const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, now, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const base = seeded(object, timingOf(object), now);
  const taken = Math.max(kept.taken ?? 0, base.taken ?? 0, latestIn(remains));
  const memory: Memory = {
    ...base,
    ...kept,
    timing: kept.timing ?? base.timing,
    since: Math.max(kept.since ?? 0, base.since, taken),
    ...(taken === 0 ? {} : { taken }),
  };
  return { memory, kept: Object.keys(kept), problems };
};

/** Times mean the same in every cluster; the refusal of another cluster's API server is dropped. */
const voided = ({ refusal: _, ...memory }: Memory): Memory => memory;

/** Returns a status without active jobs. Finished jobs stay; no status names them. */
const emptied = (_: Stored, memory: Memory) => projected(memory, { all: [], active: [], successful: [], failed: [] });

/** Recovery of a CronJob: the names of its jobs derive from its times, so no time is taken twice whatever is lost. */
export const recovery: Recovery<Memory> = { ownedObjects, isLive: (job) => !isFinished(job), rebuild, voided, emptied };

const word = (state: string, message?: string): StateUpdate => ({
  ...{ state, attempt: 0, terminal: false },
  ...(message === undefined ? {} : { message }),
});

const isActive = ({ status }: Plan<Memory>): boolean => {
  const active = status?.["active"];
  return Array.isArray(active) && active.length > 0;
};

/** The first that holds: InvalidSpec, Suspended, JobRefused, Active, Scheduled. */
export const statusUpdate = (plan: Plan<Memory>, object: Stored): StateUpdate | undefined => {
  const read = readCronSpec(object);
  if (!read.ok) return word("InvalidSpec", read.message);
  if (read.desired.suspended) return word("Suspended");
  const { refusal } = plan.memory;
  if (refusal !== undefined) return word("JobRefused", refusal);
  // A plan without a status does not say whether jobs are active.
  if (plan.status === undefined) return undefined;
  return word(isActive(plan) ? "Active" : "Scheduled");
};

/** The operator of Volcano's CronJobs under the given settings. */
export const volcanoCronJob = (settings: Settings): Operator<Memory> => ({
  ...cronJobWatcher,
  component,
  parse: parseMemory,
  statusUpdate,
  recovery,
  decide: (key, view) => decide(settings, key, view),
  heldUp: (_object, _message, planned) => planned,
});
