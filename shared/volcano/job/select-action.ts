/**
 * Selects the one action of a step: a command, else an annotation's action, else a delayed action that is due, else
 * that of the first event that leads to one, else a sync.
 */

import { spanText } from "../../core/annotation.ts";
import { remembered, waitingOrders } from "../command/order.ts";
import type { Action } from "../schema/resource.ts";
import { nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import type { CodeRule, Target } from "./annotations.ts";
import type { SelectedAction } from "./apply-action.ts";
import { type JobContext, podCounts } from "./context.ts";
import type { Later } from "./events.ts";
import { commandActions, isWorking, moveFor } from "./machine.ts";
import { changed, type Memory, ofTask } from "./memory.ts";
import { isDone } from "./pods.ts";
import {
  type ActionTarget,
  type Answer,
  actionFor,
  dueOf,
  type EventName,
  isLeaving,
  isOfJob,
  type NewDelay,
  type PolicyEvent,
  policyEventsOf,
  recovered,
  withDelays,
} from "./policies.ts";
import { lossOf } from "./quota.ts";

type ActionRule = (context: JobContext, memory: Memory) => SelectedAction | undefined;

const because = (event: string) => ({ event, exitCodes: [] });

/**
 * Aborts a job that asks for suspension. Without the annotation, it resumes a job that it has aborted, but none that a
 * command has.
 */
const suspension: ActionRule = ({ annotationPolicies: { suspend } }, memory) => {
  if (suspend === "true" && isWorking(memory.phase))
    return { memory: { ...memory, suspended: true }, action: "AbortJob", target: job, because: because("Suspended") };
  return suspend === "false" && memory.suspended === true && memory.phase === "Aborted"
    ? { memory, action: "ResumeJob", target: job, because: because("Resumed") }
    : undefined;
};

/** Restarts a job with pods that Kueue does not admit, or no longer; it then waits, and its active time begins anew. */
const quotaLost: ActionRule = (context, { activeSince: _, ...memory }) => {
  const loss = isWorking(memory.phase) ? lossOf(context) : undefined;
  if (loss === undefined) return undefined;
  return { memory, action: "RestartJob", target: job, because: { ...because(loss), unadmitted: true } };
};

/** Returns the instant at which the job has worked for too long, epoch ms; undefined if there is none. */
export const deadlineOf = ({
  annotationPolicies: { deadlineMs },
  memory,
}: Pick<JobContext, "annotationPolicies" | "memory">): number | undefined =>
  deadlineMs === undefined || memory.activeSince === undefined || !isWorking(memory.phase)
    ? undefined
    : memory.activeSince + deadlineMs;

const deadline: ActionRule = (context, memory) => {
  const due = deadlineOf({ ...context, memory });
  if (due === undefined || due > context.view.now) return undefined;
  const { deadlineMs = 0 } = context.annotationPolicies;
  return {
    memory,
    action: "TerminateJob",
    target: job,
    because: because(`DeadlineExceeded after ${spanText(deadlineMs)}`),
  };
};

const isMet =
  (context: JobContext) =>
  ({ task, count }: Target): boolean => {
    const one = tasksOf(context.spec).find((each) => nameOf(each) === task);
    if (one === undefined) return false;
    return (podCounts(context).byTask[task]?.Succeeded ?? 0) >= (count ?? replicasOf(one));
  };

/** Returns a done pod of the targets, which is read again before the action. Deleted pods need no second read. */
const witnessOf = (context: JobContext, targets: readonly Target[]): Pick<SelectedAction, "witness"> => {
  const member = context.members.find(
    (one) => targets.some(({ task }) => task === one.task) && isDone(one, context.memory),
  );
  const metadata = member?.pod.metadata;
  return metadata === undefined ? {} : { witness: { name: metadata.name, uid: metadata.uid } };
};

const success: ActionRule = (context, memory) => {
  if (!["Pending", "Running"].includes(memory.phase)) return undefined;
  const met = context.annotationPolicies.success.find((targets) => targets.every(isMet(context)));
  if (met === undefined) return undefined;
  const event = `SuccessTargets ${met.map(({ task }) => task).join(", ")}`;
  return { memory, action: "CompleteJob", target: job, because: because(event), ...witnessOf(context, met) };
};

const actionRules: readonly ActionRule[] = [suspension, quotaLost, deadline, success];

/** Returns the first action that an annotation asks for. */
const annotationActionOf: ActionRule = (context, memory) => {
  for (const rule of actionRules) {
    const choice = rule(context, memory);
    if (choice !== undefined) return choice;
  }
  return undefined;
};

/** A Pending pod, and when it has waited for too long; `fresh`: no earlier step has seen it. */
type Waiting = Later & { readonly fresh: boolean };

/**
 * Returns the delayed actions to report for Pending pods. An action on the whole job that an earlier pod waits for
 * already is not new.
 */
const announced = (waiting: readonly Waiting[]): readonly Later[] => {
  const groups = Map.groupBy(waiting, ({ action, delayMs, dueAt }) =>
    isOfJob(action) ? `${action} ${delayMs}` : `${action} ${delayMs} ${dueAt}`,
  );
  return [...groups.values()].flatMap((ones) =>
    ones.every(({ fresh, action }) => fresh || !isOfJob(action)) ? ones.filter(({ fresh }) => fresh).slice(0, 1) : [],
  );
};

const job: ActionTarget = { task: "" };

/** True in phases in which policies apply: those that keep the pods as the spec says. */
const listens = ({ memory }: JobContext): boolean => moveFor(memory.phase, "SyncJob").pods === "sync";

/** The events that a step has handled, in their order, and the delayed actions that they lead to. */
type Heard = { readonly happenings: readonly PolicyEvent[]; readonly arms: readonly NewDelay[] };

const indexesBy = (happenings: readonly PolicyEvent[], event: EventName): ReadonlyMap<string, readonly number[]> => {
  const groups = Map.groupBy(
    happenings.filter((one) => one.event === event),
    ({ task }) => task,
  );
  return new Map([...groups].map(([task, ones]) => [task, ones.map(({ index = 0 }) => index)]));
};

const including = (sets: Memory["failed"], added: ReadonlyMap<string, readonly number[]>): Memory["failed"] => ({
  ...sets,
  ...changed(new Map([...added].map(([task, indexes]) => [task, new Set([...ofTask(sets, task), ...indexes])]))),
});

const excluding = (sets: Memory["seen"], gone: ReadonlyMap<string, readonly number[]>): Memory["seen"] => {
  const left = Object.keys(sets).map((task): [string, number[]] => {
    const out = new Set(gone.get(task));
    return [task, [...ofTask(sets, task)].filter((index) => !out.has(index))];
  });
  return changed(new Map(left));
};

const tasksIn = (happenings: readonly PolicyEvent[], event: EventName): readonly string[] =>
  happenings.filter((one) => one.event === event).map(({ task }) => task);

/** Marks handled events in the memory, so that each is an event once, except a Pending pod, which stays one. */
const noted = (memory: Memory, { happenings, arms }: Heard, { group }: JobContext): Memory => {
  const lost = group !== undefined && happenings.some(({ event }) => event === "Unknown");
  return {
    ...memory,
    failed: including(memory.failed, indexesBy(happenings, "PodFailed")),
    seen: excluding(memory.seen, indexesBy(happenings, "PodEvicted")),
    completed: [...memory.completed, ...tasksIn(happenings, "TaskCompleted")],
    exhausted: [...memory.exhausted, ...tasksIn(happenings, "TaskFailed")],
    delays: withDelays(memory.delays, arms),
    ...(lost ? { unknown: group.metadata.uid } : {}),
  };
};

/** Answers an event; the job's exit-code annotation precedes its policies. */
const answerTo = (
  { object, spec, memory, annotationPolicies }: JobContext,
  { event, task, exitCodes }: PolicyEvent,
): Answer => {
  const rule =
    event === "PodFailed" ? annotationPolicies.exitCodes.find(({ ranges }) => isWithin(ranges, exitCodes)) : undefined;
  if (rule !== undefined) return { action: rule.action, delayMs: 0, by: "job" };
  return actionFor({ uid: object.metadata.uid, version: memory.version, spec }, { event, task, exitCodes });
};

const isWithin = (ranges: CodeRule["ranges"], codes: readonly number[]): boolean =>
  codes.some((code) => ranges.some(([from, to]) => from <= code && code <= to));

const disrupted = ({ disrupted: is }: { readonly disrupted?: true | undefined }): Pick<PolicyEvent, "disrupted"> =>
  is === undefined ? {} : { disrupted: is };

const overdueOf = (context: JobContext, memory: Memory): SelectedAction | undefined => {
  const due = dueOf(memory, context.view.now);
  if (due === undefined) return undefined;
  const delays = memory.delays.filter((one) => one !== due);
  const because = { event: due.event, exitCodes: [], ...disrupted(due) };
  return { memory: { ...memory, delays }, action: due.action, target: due, because };
};

/** The consequence of one event: an action, a delayed action, an instant for another step, or nothing. */
type Verdict =
  | { readonly does: "nothing" }
  /** It stays an event until the current restart is over. */
  | { readonly does: "stays" }
  | ({ readonly does: "waits" | "arms" } & Later)
  | { readonly does: "acts"; readonly action: Action };

/**
 * Decides one event. The delay of a Pending pod begins with its creation, any other delay at `now`. A failure during a
 * restart must count as another restart, so it waits until that restart is over.
 */
const verdictOf = (context: JobContext, happening: PolicyEvent): Verdict => {
  const { now } = context.view;
  const { action, delayMs, by } = answerTo(context, happening);
  if (by === "none") return { does: "nothing" };
  if (action === "RestartJob" && context.memory.phase === "Restarting") return { does: "stays" };
  if (happening.event !== "PodPending")
    return delayMs > 0 ? { does: "arms", action, delayMs, dueAt: now + delayMs } : { does: "acts", action };
  const dueAt = happening.at + delayMs;
  return dueAt > now ? { does: "waits", action, delayMs, dueAt } : { does: "acts", action };
};

const choiceOf = (memory: Memory, happening: PolicyEvent, action: Action): SelectedAction => {
  const { event, exitCodes, witness } = happening;
  return {
    memory,
    action,
    target: happening,
    because: { event, exitCodes, ...disrupted(happening) },
    ...(witness === undefined ? {} : { witness }),
  };
};

/** Takes the oldest command, first of all and in every phase. One that changes nothing sets no `because`. */
const orderedOf = ({ orders, memory: { commands } }: JobContext, memory: Memory): SelectedAction | undefined => {
  const [order] = waitingOrders(orders, commands);
  if (order === undefined) return undefined;
  const taken = { memory: { ...memory, commands: remembered(commands, order) }, target: job };
  const action = commandActions.find((one) => one === order.action);
  if (action === undefined || order.stale) return { ...taken, action: "SyncJob" };
  const idle = moveFor(memory.phase, action) === moveFor(memory.phase, "SyncJob");
  return { ...taken, action, ...(idle ? {} : { because: { event: "CommandIssued", exitCodes: [] } }) };
};

/** True if the next command ends the job; such a command needs no queue or other object first. */
export const isToEnd = ({ orders, memory }: JobContext): boolean => {
  const [order] = waitingOrders(orders, memory.commands);
  return order !== undefined && !order.stale && ["AbortJob", "TerminateJob", "CompleteJob"].includes(order.action);
};

/** True if no earlier step has seen the event's pod. */
const isFresh = ({ view }: JobContext, { task, index = -1 }: PolicyEvent): boolean =>
  !ofTask(view.memory?.seen ?? {}, task).has(index);

/** Handles events until one leads to an action; `isShown`: the status shows the phase, so an action may be taken. */
const byEvents = (context: JobContext, memory: Memory, isShown: boolean): SelectedAction => {
  const happenings: PolicyEvent[] = [];
  const arms: NewDelay[] = [];
  const waiting: Waiting[] = [];
  const laters = (): readonly Later[] => [...arms, ...announced(waiting)];
  for (const happening of policyEventsOf(context)) {
    const verdict = verdictOf(context, happening);
    if (verdict.does === "stays") continue;
    if (verdict.does === "acts" && !isShown) break;
    happenings.push(happening);
    if (verdict.does === "acts")
      return {
        ...choiceOf(noted(memory, { happenings, arms }, context), happening, verdict.action),
        laters: laters(),
      };
    if (verdict.does === "arms") arms.push({ happening, ...verdict });
    if (verdict.does === "waits") waiting.push({ ...verdict, fresh: isFresh(context, happening) });
  }
  const wakeAt = Math.min(...waiting.map(({ dueAt }) => dueAt));
  return {
    memory: noted(memory, { happenings, arms }, context),
    action: "SyncJob",
    target: job,
    laters: laters(),
    ...(waiting.length === 0 ? {} : { wakeAt }),
  };
};

/** Selects the action of a step; `isShown`: the status shows the job's current phase, so the job may leave it. */
export const selectAction = (context: JobContext, isShown: boolean): SelectedAction => {
  const staying = context.members.filter((member) => !isLeaving(context, member));
  const memory: Memory = { ...context.memory, delays: recovered(context.memory.delays, staying) };
  const ordered = isShown ? (orderedOf(context, memory) ?? annotationActionOf(context, memory)) : undefined;
  if (ordered !== undefined) return ordered;
  if (!listens(context)) return { memory, action: "SyncJob", target: job };
  return (isShown ? overdueOf(context, memory) : undefined) ?? byEvents(context, memory, isShown);
};
