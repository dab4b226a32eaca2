/** Makes the plan of a selected action: effects in their order, the status, the Events, and the wait for the next step. */

import type { Decision } from "../../core/decision.ts";
import { fieldsOf, same } from "../../core/json.ts";
import { refTo, type Stored } from "../../core/object.ts";
import {
  type Effect,
  type Next,
  notYetRecorded,
  type Plan,
  type PlannedStatus,
  type Refusal,
  type Safety,
  type Wait,
  waitOf,
} from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { until, type WaitingOn } from "../../core/waiting-on.ts";
import { untilAdmitted } from "../../kube/kueue.ts";
import { pods } from "../../kube/resources.ts";
import { cleared, waitingOrders } from "../command/order.ts";
import { refusedBy } from "../plugins/all.ts";
import { jobs, type Phase, podGroups } from "../schema/resource.ts";
import { type JobSpec, tasksOf } from "../schema/spec.ts";
import { isAdmitted, phaseAfter, podEffects } from "./apply-action.ts";
import {
  heldUntil,
  isHeld,
  isKept,
  isUnadmitted,
  type JobContext,
  ownerOf,
  podCounts,
  type ReasonMessage,
} from "./context.ts";
import { createdPods, mostInStep, notYetDone, pendingPod, remembersPods, withCreated } from "./created-pods.ts";
import { denialEvents, denialWord, nextTryAt } from "./denied-pods.ts";
import {
  actionEvents,
  commandEvents,
  toldFirst as eventsFirst,
  jobEvent,
  problemEvents,
  refusalWord,
  stateWord,
} from "./events.ts";
import { isFinished, moveFor } from "./machine.ts";
import { type Memory, ofTask, type PendingEvent, seeded, shownPhase } from "./memory.ts";
import { planNativeGangs } from "./native-gang.ts";
import { groupEffects, planOwnedObjects } from "./owned-objects.ts";
import { isOver } from "./pods.ts";
import { quotaEffects, quotaWord } from "./quota.ts";
import { deadlineOf } from "./select-action.ts";
import { failedDependency } from "./starts.ts";
import { projected } from "./status.ts";

/** Phases in which a job expires. As upstream, an aborted job does not: it waits to be resumed. */
const expiring: readonly Phase[] = ["Completed", "Failed", "Terminated"];

/** Returns the instant at which the job is to be deleted, epoch ms; undefined if it does not expire. */
export const expiryOf = (
  { ttlSecondsAfterFinished: ttl }: Pick<JobSpec, "ttlSecondsAfterFinished">,
  { phase, since }: Pick<Memory, "phase" | "since">,
): number | undefined => (ttl === undefined || !expiring.includes(phase) ? undefined : since + ttl * 1_000);

const pollMs = 15_000;

type Due = {
  /** When something is due, epoch ms. */
  readonly wakeAt?: number;
  /** There are events still to be acted on. */
  readonly more?: boolean;
};

const earliest = (...instants: readonly (number | undefined)[]): number | undefined => {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** True if a command is still to be taken. */
const isOrdered = ({ orders, memory }: JobContext): boolean => waitingOrders(orders, memory.commands).length > 0;

/** True if an eviction is still to become an event. */
const hasMore = ({ memory, members, spec }: JobContext): boolean =>
  tasksOf(spec).some(({ name = "" }) => {
    const there = new Set(members.filter(({ task }) => task === name).map(({ index }) => index));
    return [...ofTask(memory.seen, name)].some((index) => !there.has(index));
  });

/** True if the pods lead on from a phase that the status had to show first; no further event would bring that step. */
const leadsOn = (context: JobContext): boolean => {
  const { memory, spec, object } = context;
  if (shownPhase(object) === memory.phase) return false;
  const counts = { spec, retryCount: memory.retryCount, tally: podCounts(context), held: isHeld(context) };
  return phaseAfter(memory.phase, moveFor(memory.phase, "SyncJob"), counts) !== memory.phase;
};

const waitsFor = (context: JobContext): WaitingOn => {
  const { memory, members } = context;
  const denial = denialWord(context);
  if (denial !== undefined) return { on: "trouble", message: denial.message };
  if (members.some((member) => member.ending || isOver(member, memory))) return until("pods", "ended");
  if (context.quota !== undefined && isUnadmitted(context)) return untilAdmitted(context.quota.queue);
  if (isHeld(context))
    return memory.phase === "Restarting" ? until("its wait before the restart", "ended") : { on: "resumption" };
  if (!isAdmitted(context)) return until("its group", "admittedByScheduler");
  const usual = memory.phase === "Running" ? until("its pods", "finished") : until("its pods", "started");
  return failedDependency(context) ?? usual;
};

type Waits = Extract<Next, { do: "rest" | "wait" | "again" }>;

/** The wait of a finished job: its time to live, or rest. */
const afterEnd = (context: JobContext, busy: boolean, ending: boolean): Waits => {
  const due = expiryOf(context.spec, context.memory);
  if (busy) return { do: "again" };
  if (ending) return { do: "wait", pollMs, waitsFor: until("its remaining objects", "ended") };
  // A resync looks at it again: the annotation that resumes it changes no generation.
  const isSuspended = context.memory.phase === "Aborted" && context.annotationPolicies.suspend === "true";
  if (isSuspended) return { do: "wait", waitsFor: { on: "resumption" } };
  return { do: "rest", ...(due === undefined ? {} : { wakeAt: due }) };
};

/** Returns the wait; `busy`: the step ends pods or changes other objects of the job. */
const waitsOf = (context: JobContext, outcome: Due, busy: boolean): Waits => {
  const { memory } = context;
  const sooner = isOrdered(context) || outcome.more === true;
  const ending = context.members.some((member) => member.ending || isOver(member, memory));
  if (isFinished(memory.phase)) return afterEnd(context, busy || sooner, ending || memory.kept !== "");
  const backoffEnd = heldUntil(memory, context.view.now);
  const wakeAt = earliest(
    outcome.wakeAt,
    nextTryAt(context),
    ...memory.delays.map(({ dueAt }) => dueAt),
    deadlineOf(context),
    backoffEnd,
  );
  const missing = !isHeld(context) && hasMore(context) && moveFor(memory.phase, "SyncJob").pods === "sync";
  return {
    do: sooner || missing || leadsOn(context) ? "again" : "wait",
    waitsFor: waitsFor(context),
    ...(wakeAt === undefined ? {} : { wakeAt }),
    ...(ending || busy ? { pollMs } : {}),
  };
};

const slowPollMs = 60_000;

type StepOutcome = Due & {
  /** No action was taken, so the step may go on creating pods. */
  readonly settled?: boolean;
  /** The evidence of the action, if one was taken, was read again. */
  readonly sure?: boolean;
};

const expires = (context: JobContext): Effect => {
  const { uid, resourceVersion } = context.object.metadata;
  return { do: "delete", ref: refTo(jobs, context.object), uid, resourceVersion };
};

const isDue = ({ spec, memory, view, object }: JobContext): boolean => {
  const due = expiryOf(spec, memory);
  return due !== undefined && due <= view.now && shownPhase(object) === memory.phase;
};

/** True if the step only creates pods and more are missing: the step continues without another read. */
const goesOn = ({ view, object, memory }: JobContext, { settled }: StepOutcome, stages: Stages): boolean =>
  settled === true &&
  shownPhase(object) === memory.phase &&
  (view.done ?? []).length < mostInStep &&
  stages.flat().every((effect) => effect.do === "create" && effect.resource === pods);

/** Live reads for a job that ends, for an action whose evidence was not read again, and where the spec wants fewer pods. */
const liveFor = (
  { memory }: JobContext,
  { sure }: Pick<StepOutcome, "sure">,
  excess: readonly Effect[] = [],
): Pick<Safety, "live"> => (sure === true && !isFinished(memory.phase) && excess.length === 0 ? {} : { live: true });

/**
 * True if the status does not show the recorded phase. Another step may have shown a later one, so this step must win
 * the save first.
 */
const isContested = ({ view, object, memory }: JobContext): boolean =>
  view.memory?.phase === memory.phase && shownPhase(object) !== memory.phase;

type Stages = readonly (readonly Effect[])[];

/**
 * True if the status is the record: a step without a record derives the same memory, the same group and the same pods
 * from it. Pods that take more than one round have a record.
 */
const isShown = ({ object, view, memory }: JobContext, plan: Plan<Memory>): boolean => {
  const { kept: _, ...remembered } = memory;
  const { status, stages, next } = plan;
  return (
    // No status shows which pods were seen.
    Object.keys(memory.seen).length === 0 &&
    waitOf(plan).wakeAt === undefined &&
    (next.do === "wait" || next.do === "rest" || next.do === "continue") &&
    (view.done ?? []).length === 0 &&
    stages.flat().every((effect) => effect.do === "create" && [podGroups, pods].includes(effect.resource)) &&
    same(seeded({ ...object, status }, view.now), remembered)
  );
};

/** Returns the reason why no pods are created: a plugin error, a missing claim, or an unreadable object of Kueue. */
const wordOf = ({ object, spec, key, quota }: JobContext, lacking: string | undefined): ReasonMessage | undefined => {
  const refusal = refusedBy({ owner: ownerOf({ object, key }), tasks: tasksOf(spec) }, spec.plugins);
  if (refusal !== undefined) return { reason: "PluginError", message: refusal };
  if (quota?.lacks !== undefined) return { reason: "KueueError", message: quota.lacks };
  return lacking === undefined ? undefined : { reason: "PVCError", message: lacking };
};

/** Records the owed Events; everything else is decided in the same step afterwards. */
export const payingPlan = (
  context: JobContext,
  outcome: Due & Pick<StepOutcome, "sure">,
  debt: readonly PendingEvent[],
): Plan<Memory> => {
  const { pollMs: _, ...wait } = waitOf({ next: waitsOf(context, outcome, false) });
  return {
    ...eventsFirst(context, debt),
    next: { do: "continue", ...wait },
    safety: liveFor(context, outcome),
  };
};

type Ordered = Readonly<Record<"ends" | "kept" | "group", readonly Effect[]>>;

/**
 * Orders the effects. Pods that stay read the hosts of a changed job, so repairs of shared objects precede deletions of
 * pods, within one stage, so that neither waits for the other. A finished job ends its pods first: they may still read
 * the shared objects.
 */
const inOrder = (context: JobContext, { ends, kept, group }: Ordered): Stages =>
  ends.length > 0 && isKept(context) ? [[...kept, ...ends], group] : [ends, [...kept, ...group]];

type Pressing = { readonly on: boolean; readonly again: boolean; readonly word: ReasonMessage | undefined };

/**
 * Returns what follows the step: more within the step, another step at once, or the wait, with a poll if something
 * hinders the pods.
 */
const nextOf = (waits: ReturnType<typeof waitsOf>, { on, again, word }: Pressing): Next => {
  const wait: Wait = {
    ...waitOf({ next: waits }),
    ...(word === undefined ? {} : { pollMs, waitsFor: { on: "trouble", message: word.message } }),
  };
  if (on) return { do: "continue", ...wait };
  if (again) return { do: "again", ...wait };
  return waits.do === "rest" && word !== undefined ? { do: "wait", ...wait } : { ...waits, ...wait };
};

const isRemoval = ({ do: act }: Effect): boolean => act === "delete";

type Creations = { readonly creates: Stages; readonly stages: Stages; readonly more: boolean };

/** True if the same step decides again: to create further pods, or to save which it has created. */
const continues = (context: JobContext, outcome: StepOutcome, { creates, stages, more }: Creations): boolean =>
  (outcome.settled === true && remembersPods(context, creates)) || (more && goesOn(context, outcome, stages));

/** Adds what the engine may rely on; `first`: the status of a plan whose status is the record. */
const withSafety = (context: JobContext, plan: Plan<Memory>, first: PlannedStatus | undefined): Plan<Memory> => {
  const shown = first !== undefined && isShown(context, plan);
  const safety: Safety = {
    ...plan.safety,
    ...(shown ? { statusIsRecord: true } : {}),
  };
  return { ...plan, safety, ...(shown ? { status: first } : {}) };
};

/** Returns the plan of a step from the memory after its action. */
export function* planOf(context: JobContext, outcome: StepOutcome): Decision<Memory> {
  if (isDue(context)) return { memory: context.memory, stages: [[expires(context)]], next: { do: "again" } };
  const kept = yield* planOwnedObjects(context);
  const { kept: _, ...rest } = context.memory;
  const memory: Memory = kept.kept === undefined ? rest : { ...rest, kept: kept.kept };
  const next = { ...context, memory };
  const word = wordOf(context, kept.lacks);
  const { ends: over, excess, creates, created, more } = podEffects(next, word === undefined);
  const ends = [...over, ...excess];
  const group = groupEffects(next);
  const native = yield* planNativeGangs(next, creates.length > 0);
  if ("reason" in native) return heldPlan(next, native);
  const quota = quotaEffects(next);
  const denial = denialWord(next);
  const warned =
    word === undefined
      ? [...problemEvents(next), ...denialEvents(next)]
      : [jobEvent(context.object, `${word.reason} ${word.message}`, word)];
  const all = [
    native,
    ...inOrder(next, { ends, kept: kept.effects, group }),
    ...creates,
    notYetRecorded(next.view, [...commandEvents(next), ...actionEvents(next, word !== undefined), ...warned]),
    cleared(next.orders, memory.commands),
    ...quota,
  ];
  const stages = notYetDone(next, all);
  // A group that is created or changed leads on by the watch, as its admission does.
  const busy = ends.length + kept.effects.length + quota.flat().length > 0 || group.some(isRemoval);
  const unverified = kept.effects.length > 0 && kept.lacks === undefined;
  const said = word ?? denial ?? quotaWord(next) ?? stateWord(next);
  const before = createdPods(next);
  const on = continues(next, outcome, { creates, stages, more });
  const plan: Plan<Memory> = {
    memory: withCreated(next, before),
    stages,
    status: projected(next, said, before.map(pendingPod)),
    next: nextOf(waitsOf(next, outcome, busy), { on, again: more || unverified, word }),
    safety: {
      ...liveFor(next, outcome, excess),
      ...(isContested(context) ? { fenced: true } : {}),
    },
  };
  // A status that is the record is written before the pods are created, so it counts them already.
  const first = more && on ? undefined : projected(next, said, created);
  return withSafety(next, plan, first);
}

/** Effects that may remove what holds a job up, and the time until the next step, ms. */
type Remedy = { readonly first?: readonly Effect[]; readonly retryMs?: number };

/** Plans no action; the status and an Event give the reason. */
export const heldPlan = (
  context: JobContext,
  word: ReasonMessage,
  { first = [], retryMs = first.length > 0 ? 1_000 : pollMs }: Remedy = {},
): Plan<Memory> => ({
  memory: context.memory,
  stages: [[...first], [jobEvent(context.object, `${word.reason} ${word.message}`, word)]],
  status: projected(context, word),
  next: { do: "wait", pollMs: retryMs, waitsFor: { on: "trouble", message: word.message } },
});

/** Retries a refused write later and slowly: the cause may be repaired in the cluster. */
export const refusedPlan = (context: JobContext, refused: readonly Refusal[]): Plan<Memory> =>
  heldPlan(context, refusalWord(refused), { retryMs: slowPollMs });

/** Leaves everything as it is when the spec is invalid; the status says what to correct. */
export const invalid = (about: {
  readonly object: Stored;
  readonly memory: Memory;
  readonly message: string;
  readonly now: number;
}): Plan<Memory> => {
  const { object, memory } = about;
  const message = about.message.slice(0, 1_000);
  const word: ReasonMessage = { reason: "InvalidSpec", message };
  return {
    memory,
    stages: [[jobEvent(object, `InvalidSpec ${object.metadata.generation ?? 0}`, word)]],
    status: {
      ...fieldsOf(object.status),
      state: { phase: memory.phase, lastTransitionTime: timeText(memory.since), ...word },
    },
    next: { do: "rest", waitsFor: until("its spec", "corrected", message) },
  };
};
