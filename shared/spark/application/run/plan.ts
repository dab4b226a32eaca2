/**
 * Turns the result of an act into a plan: with the latest states of the application, and the events that are not
 * recorded yet. A failed run has its counts and the time of the next run, as has one that takes too long to come up.
 */
import { spanText } from "../../../core/annotation.ts";
import type { Stored } from "../../../core/object.ts";
import { type Effect, type Next, type Plan, soonest } from "../../../core/plan.ts";
import { instantOf } from "../../../core/time.ts";
import type { WaitingOn } from "../../../core/waiting-on.ts";
import { podStatus, waitingReason } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { isLiving, membersOf } from "../../executors/allotment.ts";
import { sparkApplications } from "../../schema/resource.ts";
import { isDynamic } from "../../schema/rules.ts";
import { delayOf, type Pods, spendsRetry } from "../state/evidence.ts";
import { causeEvents, type PhaseEvent, phaseEvents } from "../state/machine.ts";
import type { Cause, Driver, Memory, PendingEvent } from "../state/memory.ts";
import { projected, shownExecutors, showsRecord } from "../state/status.ts";
import { type ApplicationContext, endOver, policyOf, removal, settledAt } from "./context.ts";
import { uselessAfter } from "./executor-retention.ts";
import { withLogs } from "./kept-log.ts";
import { nextRun } from "./retry.ts";

export type End = {
  readonly endedAt: number;
  readonly error: string;
  readonly cause: Cause;
  /** The run is restarted whatever its policy says, and spends no retry. */
  readonly forgiven?: boolean;
};

/** The memory of a failed run, with the time of the next run if there is one. */
export const failed = (context: ApplicationContext, driver: Driver, end: End): Memory => {
  const { endedAt, error, cause } = end;
  const { memory, policies } = context;
  const good = endedAt - driver.submittedAt >= policies.goodRunMs;
  const failures = good ? 1 : (memory.failures ?? 0) + 1;
  const free = end.forgiven === true || (policies.restartOn === "infrastructure" && !spendsRetry[cause]);
  const forgiven = (memory.forgiven ?? 0) + (free ? 1 : 0);
  const counters = { submissions: memory.submissions, executions: memory.executions, submittedAt: driver.submittedAt };
  const retryAt = nextRun(policyOf(context), policies, { ...counters, endedAt, failures, forgiven, free });
  return {
    ...memory,
    driver,
    failures,
    ...(forgiven === 0 ? {} : { forgiven }),
    state: { phase: "FAILING", endedAt, error, cause, ...(retryAt === undefined ? {} : { retryAt }) },
  };
};

/** A run that is too late, or its deadline, epoch ms. */
export type Lateness =
  | { readonly is: "late"; readonly end: End }
  | { readonly is: "waiting"; readonly until: number }
  | undefined;

const reasonOf = (pod: Stored | undefined): string => {
  const why = pod === undefined ? undefined : waitingReason(podStatus(pod));
  return why === undefined ? "" : `: ${why}`;
};

/** `rekindle.dev/driver-start-timeout`: counts from the creation of the pod, which may be long after its plan. */
export const driverLateness = (
  { policies, view }: ApplicationContext,
  driver: Driver,
  pod: Stored | undefined,
): Lateness => {
  const { driverStartMs } = policies;
  if (driverStartMs === undefined) return undefined;
  const until = (instantOf(pod?.metadata.creationTimestamp) ?? driver.submittedAt) + driverStartMs;
  if (view.now < until) return { is: "waiting", until };
  const error = `driver did not start within ${spanText(driverStartMs)}${reasonOf(pod)}`;
  return { is: "late", end: { endedAt: view.now, error, cause: delayOf(pod, "driverStart") } };
};

const isUp = (pod: Stored): boolean => podStatus(pod).phase !== "Pending";

/** True when the run has or asks for executors; under dynamic allocation none may be asked for. */
const expectsExecutors = ({ read }: ApplicationContext, found: Pods): boolean =>
  found.executors.length > 0 || (read.ok && !isDynamic(read.spec));

/** `rekindle.dev/executor-start-timeout`: counted from the driver's start, until the first executor runs. */
export const executorLateness = (context: ApplicationContext, driver: Driver, found: Pods, pod: Stored): Lateness => {
  const { policies, view, object } = context;
  const { executorStartMs } = policies;
  if (executorStartMs === undefined || !expectsExecutors(context, found)) return undefined;
  const known = Object.values(shownExecutors(object, driver)).some((state) => state !== "PENDING");
  if (known || found.executors.some(isUp)) return undefined;
  const until = (instantOf(podStatus(pod).startTime) ?? driver.submittedAt) + executorStartMs;
  if (view.now < until) return { is: "waiting", until };
  const [first] = found.executors;
  const error = `no executor started within ${spanText(executorStartMs)}${reasonOf(first)}`;
  return { is: "late", end: { endedAt: view.now, error, cause: delayOf(first, "executorStart") } };
};

/** The most states, and the most events, that are remembered. */
const longest = 20;
const most = 8;
/** The longest message, in characters: an Event holds 1,024. */
const longestMessage = 1_000;

const rowOf = ({ state }: Memory): PhaseEvent | undefined => {
  const cause = state.phase === "FAILING" ? state.cause : undefined;
  return (cause === undefined ? undefined : causeEvents[cause]) ?? phaseEvents[state.phase];
};

const sentence = (name: string, memory: Memory, { of, message }: PhaseEvent): string => {
  const detail = "error" in memory.state ? `: ${memory.state.error}` : "";
  const subject = of === "driver" ? `Driver ${memory.driver?.podName ?? name}` : `SparkApplication ${name}`;
  return `${subject} ${message}${detail}`.slice(0, longestMessage);
};

const occasionOf = ({ generation, attempt }: Memory): string => `${generation} ${attempt}`;

const unreportedOf = (name: string, memory: Memory): readonly PendingEvent[] => {
  const row = rowOf(memory);
  if (row === undefined) return [];
  const { type, reason } = row;
  return [{ type, reason, occasion: occasionOf(memory), message: sentence(name, memory, row) }];
};

/** Events that may not be recorded yet: all of this decision, and the record's if the status is behind it. */
const pending = ({ view, object }: ApplicationContext, { untold = [] }: Memory): readonly PendingEvent[] => {
  const known = view.memory?.untold ?? [];
  const isReported = view.memory !== undefined && showsRecord(object, view.memory);
  return isReported ? untold.filter((one) => !known.includes(one)) : untold;
};

/** The memory after a change of phase, with the state and the event of it. Every change of phase passes here. */
/**
 * The latest states of an application, and the events that are not recorded yet. An event is remembered with the state
 * that it reports. It counts as recorded once the status, which is written after it, shows the record's phase and
 * submission: a death in between loses no event, however short the state was.
 */
export const withHistory = (context: ApplicationContext, from: string, memory: Memory): Memory => {
  const { phase } = memory.state;
  if (phase === from) return memory;
  const { untold: _, ...rest } = memory;
  const untold = [...pending(context, memory), ...unreportedOf(context.object.metadata.name, memory)];
  return {
    ...rest,
    history: [...(memory.history ?? []), { phase, attempt: memory.attempt, at: context.view.now }].slice(-longest),
    ...(untold.length === 0 ? {} : { untold: untold.slice(-most) }),
  };
};

/** Drops the remembered event of a submission that was refused. */
export const withoutSubmissionEvent = (memory: Memory): Memory => {
  const { untold = [], ...rest } = memory;
  const left = untold.filter(({ reason }) => reason !== phaseEvents.SUBMITTED?.reason);
  return left.length === 0 ? rest : { ...rest, untold: left };
};

const recordOf = (about: Stored, { occasion, type, reason, message }: PendingEvent): Effect => ({
  do: "record",
  about,
  resource: sparkApplications,
  occasion,
  type,
  reason,
  message,
});

/** The events to record: all that may not be recorded yet. Their names are deterministic: a repeat creates none. */
const events = (object: Stored, memory: Memory): readonly Effect[] =>
  showsRecord(object, memory) ? [] : (memory.untold ?? []).map((one) => recordOf(object, one));

const executorTold: Readonly<Record<string, Pick<PendingEvent, "type" | "reason" | "message">>> = {
  PENDING: { type: "Normal", reason: "SparkExecutorPending", message: "is pending" },
  RUNNING: { type: "Normal", reason: "SparkExecutorRunning", message: "is running" },
  COMPLETED: { type: "Normal", reason: "SparkExecutorCompleted", message: "completed" },
  FAILED: { type: "Warning", reason: "SparkExecutorFailed", message: "failed" },
  UNKNOWN: { type: "Warning", reason: "SparkExecutorUnknown", message: "is in unknown state" },
};

/** The most executor events of one step, as upstream's recorder allows in a burst. */
const mostExecutors = 25;

type States = Readonly<Record<string, string>>;

/** Events for executors whose state differs from the status. */
const executorEvents = (object: Stored, before: States, after: States): readonly Effect[] =>
  Object.entries(after)
    .filter(([name, state]) => before[name] !== state)
    .slice(0, mostExecutors)
    .flatMap(([name, state]): readonly Effect[] => {
      const row = executorTold[state];
      if (row === undefined) return [];
      return [recordOf(object, { ...row, occasion: name, message: `Executor ${name} ${row.message}` })];
    });

/** Deletes as `endOver`, and ended executors that are not kept. `until`: when to look again, epoch ms. */
export const endAll = (
  context: ApplicationContext,
  found: Pods,
): { readonly stage: readonly Effect[]; readonly until?: number } => {
  const { useless, until } = uselessAfter(context, found.executors);
  const stage = [...endOver(context.memory, found), ...useless.map((pod) => removal(pod, pods))];
  return { stage, ...(until === undefined ? {} : { until }) };
};

/** `expiresAt`: the end of the application's time to live, epoch ms. */
type Resting = { readonly waitsFor?: WaitingOn; readonly expiresAt?: number };

/**
 * Plans a step in which nothing runs and nothing is to be done: strays are deleted. The application rests only once no
 * stray can appear any more and its last executor has ended, because the event of that end may get lost.
 */
export const resting = (
  context: ApplicationContext,
  found: Pods,
  { waitsFor, expiresAt }: Resting = {},
): Plan<Memory> => {
  const settled = settledAt(context);
  const { stage, until } = endAll(context, found);
  const goesOn = membersOf(found.executors).some(isLiving);
  const busy = stage.length > 0 || found.strays.length > 0 || goesOn;
  const reason = waitsFor === undefined ? {} : { waitsFor };
  const isSettled = context.view.now >= settled;
  const times = busy ? [expiresAt] : isSettled ? [until, expiresAt] : [settled];
  // A later step may delete what this one keeps.
  const isAtRest = !busy && isSettled && until === undefined;
  const next: Next = { do: isAtRest ? "rest" : "wait", ...reason, ...soonest(...times) };
  return planOf(context, context.memory, found, { stages: [stage], next });
};

type Extras = Omit<Plan<Memory>, "memory" | "stages" | "status"> & {
  readonly stages?: readonly (readonly Effect[])[];
};

/** The plan of an act: its effects, then the event of the phase, then the status. */
export const planOf = (
  context: ApplicationContext,
  memory: Memory,
  found: Pods | undefined,
  { stages: given = [], ...extras }: Extras,
): Plan<Memory> => {
  const { object, settings, info } = context;
  const next = withHistory(context, context.memory.state.phase, memory);
  const limit = settings.options.trackedExecutors;
  const status = projected(object, next, { pods: found, info, limit });
  const executors = executorEvents(object, shownExecutors(object, next.driver), status.executorState ?? {});
  const logged = withLogs({ options: settings.options, pods: found?.all ?? [] }, given);
  const stages = [...logged, [...events(object, next), ...executors]].filter((stage) => stage.length > 0);
  return { ...extras, memory: next, stages, status };
};
