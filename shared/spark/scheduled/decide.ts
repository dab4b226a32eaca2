/**
 * The decision of one step of a ScheduledSparkApplication. Each time of the schedule starts one run: the run is named
 * after it, and saved before it is created. The memory holds the next time, and the run that was decided. Pure.
 *
 * No run is deleted before `settledMs` have passed since its creation: until then a slow step could create the deleted
 * run again.
 */

import * as z from "zod";
import { nextAfter, nextAfterMissed, type Schedule } from "../../core/cron.ts";
import { type Decision, list } from "../../core/decision.ts";
import { fieldsOf, isRecord } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import { type Operator, readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import {
  type Effect,
  type Follows,
  nextUntil,
  type OwnedObjects,
  type Plan,
  type Rebuilt,
  type Recovery,
  type Remains,
  type View,
} from "../../core/plan.ts";
import { instantOf, timeText } from "../../core/time.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until, type WaitingOn } from "../../core/waiting-on.ts";
import { createdAt, prunedAt, settledAt, timingOf } from "../../kube/history.ts";
import { isEnding } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { instant } from "../../kube/schema.ts";
import { scheduledSparkApplications } from "../schema/resource.ts";
import { creation, type Desired, readScheduleSpec, runName } from "./read.ts";
import { type Runs, removal, runsOf, sortOut, stateOf } from "./runs.ts";
import { scheduledSparkApplicationWatcher } from "./watches.ts";

/** A decided run: its name, its time of the schedule, and the time of the decision, epoch ms. */
const run = z.object({
  name: z.string(),
  tick: instant,
  at: instant,
  /** Other runs are still to be deleted for it. */
  replaces: z.boolean().optional(),
});

const memory = z.object({
  /** Digest of the schedule and time zone of `nextRun`; "" when it must be computed again. */
  timing: z.string(),
  /** Epoch ms; absent while there is no valid schedule. */
  nextRun: instant.optional(),
  /** Saved but not seen yet: it is created, again if need be. */
  starting: run.optional(),
  lastRun: run.optional(),
  /** Why the API server refused the run of the last time. */
  refusal: z.string().optional(),
});

export type Memory = z.infer<typeof memory>;

/** Parses a stored memory; errors are reported field by field. */
const parseMemory = readerOf("ScheduledSparkApplication", memory);

/** Keeps the fields of a stored memory that parse, and reports the others. */
const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

const status = z.looseObject({
  scheduleState: z.string().optional(),
  lastRun: z.string().nullish(),
  nextRun: z.string().nullish(),
  lastRunName: z.string().optional(),
});

/**
 * The first memory, from the status: a time that another controller or a lost record has announced is kept. `timing` is
 * the current spec's.
 */
const adopted = (object: Stored, timing: string): Memory => {
  const { data } = status.safeParse(object.status ?? {});
  if (data === undefined) return { timing: "" };
  const [nextRun, at] = [instantOf(data.nextRun), instantOf(data.lastRun)];
  const lastRun =
    at === undefined || data.lastRunName === undefined ? {} : { lastRun: { name: data.lastRunName, tick: at, at } };
  if (data.scheduleState !== "Scheduled" || nextRun === undefined) return { timing: "", ...lastRun };
  return { timing, nextRun, ...lastRun };
};

const ownedObjects = (key: Key, uid: string): OwnedObjects => ({ queries: [runsOf(key)], owners: [uid] });

/** The last run by the newest run that exists, if no other source names it. */
const newest = ({ object, found: [runs = []] }: Remains): Pick<Memory, "lastRun"> => {
  const { unfinished, successful, failed } = sortOut(runs, object.metadata.uid);
  const [run] = [...unfinished, ...successful, ...failed].sort((a, b) => createdAt(b) - createdAt(a));
  if (run === undefined) return {};
  return { lastRun: { name: run.metadata.name, tick: createdAt(run), at: createdAt(run) } };
};

const rebuild = (remains: Remains): Rebuilt<Memory> => {
  const { object, stored } = remains;
  const { kept, problems } = salvageMemory(stored);
  const base = adopted(object, timingOf(object));
  const lost = problems.length > 0 && kept.nextRun === undefined && base.nextRun === undefined;
  const timing = lost ? "" : (kept.timing ?? base.timing);
  const memory = { ...newest(remains), ...base, ...kept, timing };
  return { memory, kept: Object.keys(kept), problems };
};

/** Recovery of a schedule: run names are made of their times, so no time is taken twice whatever is lost. */
export const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive: (run) => !["COMPLETED", "FAILED"].includes(stateOf(run)),
  rebuild,
  voided: (memory) => memory,
};

export type KeptRuns = { readonly successful: readonly Stored[]; readonly failed: readonly Stored[] };

const namesOf = (runs: readonly Stored[]): readonly string[] => runs.map(({ metadata }) => metadata.name);

const listed = (field: string, runs: readonly Stored[]): Readonly<Record<string, unknown>> =>
  runs.length === 0 ? {} : { [field]: namesOf(runs) };

/** The whole desired `status`. `invalid`: the error of the spec. */
export const projected = (memory: Memory, kept: KeptRuns, invalid: string | undefined): Record<string, unknown> => {
  const last = memory.starting ?? memory.lastRun;
  const reason = invalid ?? memory.refusal;
  return {
    scheduleState: invalid === undefined ? "Scheduled" : "FailedValidation",
    ...(reason === undefined ? {} : { reason }),
    ...(memory.nextRun === undefined ? {} : { nextRun: timeText(memory.nextRun) }),
    ...(last === undefined ? {} : { lastRun: timeText(last.at), lastRunName: last.name }),
    ...listed("pastSuccessfulRunNames", kept.successful),
    ...listed("pastFailedRunNames", kept.failed),
  };
};

/** The event of `status.reason`, until the status shows it. */
export const warning = (object: Stored, status: Readonly<Record<string, unknown>>): readonly Effect[] => {
  const shown = isRecord(object.status) ? object.status["reason"] : undefined;
  const { reason: message, scheduleState } = status;
  if (typeof message !== "string" || shown === message) return [];
  const about = { do: "record", about: object, resource: scheduledSparkApplications, type: "Warning" } as const;
  const reason = scheduleState === "Scheduled" ? "RunRefused" : "FailedValidation";
  const occasion = `${object.metadata.generation ?? 0} ${message}`;
  return [{ ...about, occasion, reason: `ScheduledSparkApplication${reason}`, message }];
};

/** A deployment's settings for all schedules: see engine/settings.ts. */
export type Settings = { readonly settledMs: number };

type ScheduleContext = {
  readonly object: Stored;
  readonly memory: Memory;
  readonly desired: Desired;
  readonly runs: Runs;
  readonly now: number;
  readonly settings: Settings;
};

/** The next time of the schedule after now. */
const following = (schedule: Schedule, tick: number, now: number): { nextRun?: number } => {
  const nextRun = nextAfterMissed(schedule, tick, now);
  return nextRun === undefined ? {} : { nextRun };
};

/** Takes in an edited schedule: its times count from now, and never from before the last one taken. */
const retimed = ({ object, memory, desired, now }: ScheduleContext): Memory => {
  const timing = timingOf(object);
  if (memory.timing === timing && memory.nextRun !== undefined) return memory;
  const { nextRun: _, ...rest } = memory;
  const from = Math.max(now, memory.lastRun?.tick ?? 0, memory.starting?.tick ?? 0);
  const nextRun = nextAfter(desired.schedule, from);
  return { ...rest, timing, ...(nextRun === undefined ? {} : { nextRun }) };
};

/** Unfinished runs that the newest run replaces. */
const replacedBy = ({ starting, lastRun }: Memory, runs: Runs): readonly Stored[] => {
  const newest = starting ?? lastRun;
  return newest?.replaces === true ? runs.unfinished.filter(({ metadata }) => metadata.name !== newest.name) : [];
};

/** Ends the creation of a run that the list shows, and forgets `replaces` once all replaced runs are gone. */
const seen = (memory: Memory, runs: Runs): Memory => {
  const { starting, ...rest } = memory;
  const made = starting !== undefined && runs.has(starting.name) ? { ...rest, lastRun: starting } : memory;
  if (made.lastRun?.replaces !== true || made.starting !== undefined || replacedBy(made, runs).length > 0) return made;
  const { replaces: _, ...lastRun } = made.lastRun;
  return { ...made, lastRun };
};

type Pruned = { readonly kept: KeptRuns; readonly removals: readonly Effect[]; readonly again: number };

/** Deletes the oldest ended runs beyond the limits, once allowed; `again` is the next such time, epoch ms. */
const pruned = ({ desired, runs, now, settings }: ScheduleContext): Pruned => {
  const { successful, failed } = desired.keep;
  const kept = { successful: runs.successful.slice(0, successful), failed: runs.failed.slice(0, failed) };
  const excess = [...runs.successful.slice(successful), ...runs.failed.slice(failed)];
  const { due, again } = prunedAt(excess, settings.settledMs, now);
  return { kept, removals: due.map(removal), again };
};

type Ahead = Pick<Plan<Memory>, "stages"> &
  Follows & {
    /** Epoch ms. */
    readonly at: number;
  };

const planOf = (context: ScheduleContext, memory: Memory, ahead: Ahead): Plan<Memory> => {
  const history = pruned(context);
  const wakeAt = Math.min(ahead.at, history.again);
  const status = projected(memory, history.kept, undefined);
  return {
    memory,
    // A creation that fails for as long as a quota or a policy refuses it keeps nothing else from being done.
    stages: [
      replacedBy(memory, context.runs).map(removal),
      history.removals,
      warning(context.object, status),
      ...ahead.stages,
    ].filter((stage) => stage.length > 0),
    status,
    next: nextUntil(wakeAt, ahead),
  };
};

const waiting = (
  context: ScheduleContext,
  memory: Memory,
  waitsFor: WaitingOn = { on: "time", of: "run" },
): Plan<Memory> => planOf(context, memory, { stages: [], at: memory.nextRun ?? Number.POSITIVE_INFINITY, waitsFor });

/**
 * Creates the decided run, after the runs that it replaces are deleted, also in a step after a death. The run counts as
 * created once a later step sees it.
 */
const starting = (context: ScheduleContext, memory: Memory): Plan<Memory> => {
  const { object, desired } = context;
  const run = memory.starting;
  if (run === undefined) return waiting(context, memory);
  const stages = [[creation(object, desired.template, run.name)]];
  const at = memory.nextRun ?? Number.POSITIVE_INFINITY;
  return planOf(context, memory, { stages, at, follows: "again", waitsFor: until(`its run ${run.name}`, "created") });
};

/** Starts the run that is due, waits for unfinished runs, or replaces them, by the concurrency policy. */
const due = (context: ScheduleContext, memory: Memory, tick: number): Plan<Memory> => {
  const { object, desired, runs, now, settings } = context;
  const { policy, schedule } = desired;
  const { refusal: _, ...next } = { ...memory, ...following(schedule, tick, now) };
  const others = policy === "Allow" ? [] : runs.unfinished;
  const name = runName(object.metadata.name, tick);
  if (policy === "Forbid" && others.length > 0) {
    return waiting(context, next, { on: "time", of: "run", after: others[0]?.metadata.name ?? "" });
  }
  const settled = settledAt(others, settings.settledMs);
  if (settled > now) {
    const waitsFor = until(others[0]?.metadata.name ?? "", "replaceable");
    return planOf(context, memory, { stages: [], at: settled, waitsFor });
  }
  const replaces = others.length > 0 ? { replaces: true } : {};
  return starting(context, { ...next, starting: { name, tick, at: now, ...replaces } });
};

/** Drops a run that the API server refused, and reports it; the next time of the schedule tries again. */
const refused = (context: ScheduleContext, message: string): Plan<Memory> => {
  const { starting: run, ...rest } = context.memory;
  const memory = { ...rest, refusal: `run ${run?.name ?? ""} was refused: ${message}`.slice(0, 1_024) };
  return waiting(context, memory);
};

const go = (context: ScheduleContext): Plan<Memory> => {
  const memory = retimed({ ...context, memory: seen(context.memory, context.runs) });
  const { now, desired, runs } = context;
  if (desired.suspended)
    return planOf(context, memory, {
      stages: [],
      at: Number.POSITIVE_INFINITY,
      // An unfinished run will enter the history: a resync looks at it.
      ...(runs.unfinished.length === 0 ? { follows: "rest" } : {}),
      waitsFor: { on: "field", path: "spec.suspend", value: "false" },
    });
  if (memory.starting !== undefined) {
    // Times that passed while the run could not be created are missed.
    const missed = memory.nextRun !== undefined && memory.nextRun <= now;
    return starting(
      context,
      missed ? { ...memory, ...following(desired.schedule, memory.nextRun ?? now, now) } : memory,
    );
  }
  return memory.nextRun !== undefined && memory.nextRun <= now
    ? due(context, memory, memory.nextRun)
    : waiting(context, memory);
};

/** An invalid spec starts and deletes no run; once corrected, its times count from then. */
const invalid = (object: Stored, before: Memory, runs: Runs, reason: string): Plan<Memory> => {
  const { nextRun: _, ...rest } = before;
  const memory = { ...rest, timing: "" };
  const status = projected(memory, runs, reason);
  return {
    memory,
    stages: [warning(object, status)],
    status,
    next: { do: "rest", waitsFor: until("its spec", "corrected") },
  };
};

/** Decides one step of a ScheduledSparkApplication. It owns its runs, so that garbage collection deletes them. */
export function* decide(settings: Settings, key: Key, view: View<Memory>): Decision<Memory> {
  const { object, now } = view;
  if (object === undefined) return { memory: view.memory ?? { timing: "" }, stages: [], next: { do: "forget" } };
  const memory = view.memory ?? adopted(object, timingOf(object));
  if (isEnding(object)) return { memory, stages: [], next: { do: "wait", waitsFor: { on: "deletion" } } };
  const runs = sortOut(yield* list(runsOf(key)), view.uid);
  const read = readScheduleSpec(object, now);
  if (!read.ok) return invalid(object, memory, runs, read.reason);
  const context: ScheduleContext = { object, memory, desired: read.desired, runs, now, settings };
  const refusal = view.refused.find(({ effect }) => effect.do === "create");
  return refusal === undefined ? go(context) : refused(context, refusal.message);
}

/** The state of the status, or RunRefused while the API server refused the last run. */
export const statusUpdate = ({ status, memory }: Plan<Memory>): StateUpdate | undefined => {
  const { scheduleState, reason } = status ?? {};
  if (typeof scheduleState !== "string") return undefined;
  const state = scheduleState === "Scheduled" && memory.refusal !== undefined ? "RunRefused" : scheduleState;
  return { state, attempt: 0, terminal: false, ...(typeof reason === "string" ? { message: reason } : {}) };
};

/** Returns the status of the plan, or else the one shown, with the trouble as its reason: no time of the schedule is lost by it. */
const heldUp = (object: Stored, message: string, planned?: Json): Json => ({
  scheduleState: "Scheduled",
  ...(planned ?? fieldsOf(object.status)),
  reason: `held up by the platform: ${message}`.slice(0, 1_024),
});

/** The operator of ScheduledSparkApplications under the given settings. */
export const scheduledSparkApplication = (settings: Settings): Operator<Memory> => ({
  ...scheduledSparkApplicationWatcher,
  parse: parseMemory,
  statusUpdate,
  recovery,
  heldUp,
  decide: (key, view) => decide(settings, key, view),
});
