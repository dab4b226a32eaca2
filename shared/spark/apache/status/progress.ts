/**
 * The next states of Apache's SparkApplication: a pure function of its record, of what was observed, and of the time. It
 * says what is to be done next, and when to look again.
 */
import type { Stored } from "../../../core/object.ts";
import { podStatus } from "../../../kube/pods.ts";
import type { Tolerations } from "../spec/read.ts";
import { evidenceOf, runningState } from "./evidence.ts";
import {
  type ApplicationRecord,
  beganAt,
  currentOf,
  type News,
  submittedAt,
  withRestart,
  withState,
} from "./record.ts";
import { afterEnd, isRequeued, restartsAt } from "./restart.ts";
import { groupOf, isFailure, type Summary } from "./summary.ts";

export type Observed = {
  /** Epoch ms. */
  readonly now: number;
  /** The driver pod of the present attempt; "gone" once a live read has shown that it does not exist. */
  readonly driver: Stored | "gone" | "unseen";
  /** The name of the driver's main container. */
  readonly main: string;
  /** The executors of the present attempt. */
  readonly executors: readonly Stored[];
  /** Where Rekindle creates the executors: when they were first seen, epoch ms; `now` while they were not. */
  readonly executorsAt?: number;
  /** True once the driver and all that it needs have been created. */
  readonly created: boolean;
  /** True once no object of the attempt is left. */
  readonly released: boolean;
  /** Why no attempt can be submitted: the spec is refused, or an object cannot be built or created. */
  readonly refused?: { readonly as: "Failed" | "SchedulingFailure"; readonly message: string };
  readonly suspended?: boolean;
  /** True once the objects of the present attempt have been planned. */
  readonly planned?: boolean;
  /** True while Kueue does not admit the application: no attempt begins. */
  readonly held?: boolean;
  /** Why Kueue does not admit the attempt under way any more. */
  readonly lost?: string | undefined;
  /** True once the deletion of the application was requested. */
  readonly deleting?: boolean;
};

export type Policy = Tolerations & {
  /** The history of an attempt that restarts moves to the summary of the attempt before. */
  readonly trims: boolean;
};

/** The act that a look asks for: "queue" asks Kueue for quota and waits for it, "expire" deletes the application itself, "finish" removes the finalizer of one under deletion. */
export type Act = "queue" | "submit" | "follow" | "release" | "rest" | "expire" | "finish";

export type Progress = {
  readonly record: ApplicationRecord;
  readonly act: Act;
  /** Epoch ms of the next look; absent where only a change leads to one. */
  readonly wakeAt?: number;
  /** True where deletions need no grace any more: the state has lasted for the time that the user gives them. */
  readonly force?: boolean;
};

/** A further state, or the end of this look; the next attempt needs observations of its own. */
type Turn =
  | { readonly to: ApplicationRecord }
  | { readonly stays: Omit<Progress, "record"> }
  | { readonly restarted: ApplicationRecord }
  | { readonly requeued: ApplicationRecord };

type Look = { readonly record: ApplicationRecord; readonly policy: Policy; readonly seen: Observed };

const enter = ({ record, seen }: Look, summary: Summary, news: News = {}): Turn => ({
  to: withState(record, summary, seen.now, news),
});

const stay = (act: Act, wakeAt?: number): Turn => ({
  stays: { act, ...(wakeAt === undefined ? {} : { wakeAt }) },
});

/** Ends an attempt that has lost its quota: the next one waits for Kueue, and the counters of restarts stay. */
const requeue = ({ record, policy: { trims }, seen: { now } }: Look, why: string): Turn => {
  const attempt = { ...record.attempt, id: record.attempt.id + 1 };
  return { requeued: withRestart(record, attempt, { now, trims, message: `${why}: it is queued again.` }) };
};

const initialize = (look: Look): Turn => {
  const { record, policy, seen } = look;
  if (seen.refused !== undefined) return enter(look, seen.refused.as, { message: seen.refused.message });
  if (seen.created) return enter(look, "DriverRequested");
  if (seen.planned === true && seen.lost !== undefined) return requeue(look, seen.lost);
  if (seen.planned !== true && isRequeued(record) && !seen.released) return release(look);
  if (seen.suspended === true) return stay("rest");
  const due = currentOf(record).summary === "ScheduledToRestart" ? restartsAt(record, policy.restart) : seen.now;
  if (seen.now < due) return stay("rest", due);
  return stay(seen.held === true ? "queue" : "submit");
};

/** The timer of a state: how long it may last, and the state that follows. */
const timerOf = (
  summary: Summary,
  { timeouts }: Policy,
): { readonly ms: number; readonly then: Summary; readonly ofExecutors: boolean } | undefined => {
  const timers: Partial<Readonly<Record<Summary, readonly [number | undefined, Summary]>>> = {
    DriverRequested: [timeouts.driverStartMs, "DriverStartTimedOut"],
    DriverStarted: [timeouts.driverReadyMs, "DriverReadyTimedOut"],
    DriverReady: [timeouts.executorStartMs, "ExecutorsStartTimedOut"],
    InitializedBelowThresholdExecutors: [timeouts.executorStartMs, "ExecutorsStartTimedOut"],
  };
  const [ms, then] = timers[summary] ?? [];
  const ofExecutors = then === "ExecutorsStartTimedOut";
  return ms === undefined || then === undefined ? undefined : { ms, then, ofExecutors };
};

/** Ends a state that has lasted too long; else the next look is when it will have. */
const timed = (look: Look, driver: unknown): Turn => {
  const current = currentOf(look.record);
  const timer = timerOf(current.summary, look.policy);
  if (timer === undefined) return stay("follow");
  // While Rekindle is away, nobody creates executors: only those that were created can be late.
  const { executorsAt = 0 } = timer.ofExecutors ? look.seen : {};
  const due = Math.max(beganAt(current), executorsAt) + timer.ms;
  return look.seen.now > due ? enter(look, timer.then, { driver }) : stay("follow", due + 1);
};

/** An attempt whose driver has ended counts as ended, also where its quota is lost; any other one ends with its quota. */
const ended = (look: Look): Turn | undefined => {
  const { driver, main, lost } = look.seen;
  if (driver === "gone") return enter(look, "Failed", { message: "Driver pod was deleted, or its node is gone." });
  const evidence = driver === "unseen" ? undefined : evidenceOf(driver, main);
  if (driver === "unseen" || evidence?.is !== "ended") return lost === undefined ? undefined : requeue(look, lost);
  const { as, message } = evidence;
  return enter(look, as, {
    ...(message === undefined ? {} : { message }),
    driver: as === "Succeeded" ? undefined : podStatus(driver),
  });
};

const follow = (look: Look): Turn => {
  const { record, policy, seen } = look;
  const { driver } = seen;
  const end = ended(look);
  if (end !== undefined) return end;
  if (driver === "unseen" || driver === "gone") return timed(look, undefined);
  const status = podStatus(driver);
  const evidence = evidenceOf(driver, seen.main);
  const { summary } = currentOf(record);
  if (summary === "DriverRequested") {
    return evidence.is === "waiting" ? timed(look, status) : enter(look, "DriverStarted");
  }
  if (summary === "DriverStarted") return evidence.is === "ready" ? enter(look, "DriverReady") : timed(look, status);
  const proposed = runningState(summary, seen.executors, policy.executors);
  return proposed === summary ? timed(look, status) : enter(look, proposed);
};

const isKept = (ended: Summary, { retain }: Policy): boolean =>
  retain === "Always" || (retain === "OnFailure" && isFailure(ended));

/** Deletes what is left; without grace once the state has lasted for the time that the user gives it. */
const release = ({ record, policy, seen }: Look): Turn => {
  const forced = beganAt(currentOf(record)) + policy.timeouts.forceTerminationMs;
  return seen.now >= forced ? { stays: { act: "release", force: true } } : stay("release", forced);
};

/** After the end of an attempt: the next one once its objects are gone; else the objects are kept, or released. */
const stop = (look: Look): Turn => {
  const { record, policy, seen } = look;
  const after = afterEnd(record, policy.restart);
  if ("next" in after) {
    if (!seen.released) return release(look);
    return { restarted: withRestart(record, after.next, { now: seen.now, trims: policy.trims }) };
  }
  const limit = after.limit === undefined ? "" : `No restart follows: it would exceed ${after.limit}. `;
  if (isKept(currentOf(record).summary, policy))
    return enter(look, "TerminatedWithoutReleaseResources", {
      message: `${limit}The objects of the last attempt are kept.`,
    });
  if (!seen.released) return release(look);
  return enter(look, "ResourceReleased", { message: `${limit}The objects of the application are deleted.` });
};

/** Objects that are kept go after the smaller of both times. */
const keep = (look: Look): Turn => {
  const { retainMs, ttlMs } = look.policy;
  const times = [retainMs, ttlMs].filter((ms) => ms !== undefined);
  if (times.length === 0) return stay("rest");
  const due = beganAt(currentOf(look.record)) + Math.min(...times);
  if (look.seen.now <= due) return stay("rest", due + 1);
  return look.seen.released ? enter(look, "ResourceReleased") : release(look);
};

/** The time to live counts from the state before the last one. */
const expire = ({ record, policy, seen }: Look): Turn => {
  if (policy.ttlMs === undefined) return stay("rest");
  const due = beganAt(record.history.at(-2) ?? currentOf(record)) + policy.ttlMs;
  return seen.now <= due ? stay("rest", due + 1) : stay("expire");
};

const turnOf = (look: Look): Turn => {
  const { record, seen } = look;
  const { summary } = currentOf(record);
  if (seen.deleting === true) {
    if (!seen.released) return release(look);
    return summary === "ResourceReleased" ? stay("finish") : enter(look, "ResourceReleased");
  }
  switch (groupOf(summary)) {
    case "initializing":
      return initialize(look);
    case "starting":
    case "running":
      return follow(look);
    case "stopping":
      return stop(look);
    case "terminated":
      return summary === "ResourceReleased" ? expire(look) : keep(look);
  }
};

/** Every look comes to an end: with the same observation no state leads back to an earlier one. */
export const progress = (before: ApplicationRecord | undefined, policy: Policy, seen: Observed): Progress => {
  let record = before ?? submittedAt(seen.now);
  let turn = turnOf({ record, policy, seen });
  while ("to" in turn) {
    record = turn.to;
    turn = turnOf({ record, policy, seen });
  }
  if ("stays" in turn) return { record, ...turn.stays };
  if ("requeued" in turn) return { record: turn.requeued, act: "release" };
  return { record: turn.restarted, act: "rest", wakeAt: restartsAt(turn.restarted, policy.restart) };
};
