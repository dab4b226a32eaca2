/**
 * Starts driver and initial executors as one group, where `gang` is builtin. The step that would create the driver
 * creates the application's PodGroup instead, and waits until an admission round has planned places for all members. The
 * driver is then created pinned to its place, and so are the executors that Rekindle creates; a driver's own allocator
 * finds their places reserved. A group that a round took back ends the attempt, spends no retry, and waits again.
 */
import { type Decision, list, type Reads } from "../../../core/decision.ts";
import type { Stored } from "../../../core/object.ts";
import type { Effect, Plan, Wait } from "../../../core/plan.ts";
import { until } from "../../../core/waiting-on.ts";
import { type GangPlan, isWaiting, nodesOf, planOf as planIn } from "../../../kube/gang-plan.ts";
import { appUidLabel, isEnding, isOver, labelOf, ownedBy, podStatus } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { groupNameOf } from "../../auxiliary-objects/batch-scheduler.ts";
import { volcanoPodGroups } from "../../schema/resource.ts";
import { type ApplicationContext, type GangDecision, rareOf, removal } from "../run/context.ts";
import { planOf } from "../run/plan.ts";
import type { Driver, Memory, Phase } from "../state/memory.ts";
import { showsSubmission } from "../state/status.ts";
import { groupFor, isGang, withMembership } from "./group.ts";
import {
  countsOf,
  createsExecutors,
  driverTask,
  executorTask,
  isEvicted,
  isSame,
  isTakenBack,
  isTimely,
  pinnedPod,
  whyOf,
  withPins,
} from "./places.ts";

/** Interval in which a running attempt looks at its group. */
const pollMs = 5_000;

/** Interval in which a waiting application looks at its group, in case that the message about its admission was lost, ms. */
const waitPollMs = 30_000;

/** The time after a submission in which a group may still be taken back beside a driver that has just got its node, ms. */
const unsureMs = 600_000;

/** phase → the part of the group in it. `before`: the attempt waits for it. `running`: the attempt uses it. */
const parts: Readonly<Partial<Record<Phase, "before" | "running">>> = {
  "": "before",
  SUBMISSION_FAILED: "before",
  PENDING_RERUN: "before",
  RESUMING: "before",
  SUBMITTED: "running",
  RUNNING: "running",
  UNKNOWN: "running",
};

const isLookedAt = ({ memory, policies, view }: ApplicationContext): boolean => {
  const { state, driver } = memory;
  if (parts[state.phase] !== "running" || state.phase === "SUBMITTED" || policies.gangRequired === "true")
    return parts[state.phase] !== undefined;
  return view.now < (driver?.submittedAt ?? 0) + unsureMs;
};

function* readGroup(context: ApplicationContext): Reads<Stored | undefined> {
  const found = yield* list({ ...rareOf(context, "volcano"), spared: true });
  const name = groupNameOf(context.key.name);
  return found.find((group) => group.metadata.name === name && ownedBy(group, context.view.uid));
}

const withGroup = (memory: Memory): Memory => ({
  ...memory,
  rare: [...new Set([...(memory.rare ?? []), "volcano" as const])].sort(),
});

/** Hides the group of the next attempt from the step that clears the last one. */
const withoutGroup = (context: ApplicationContext): ApplicationContext => {
  const { rare = [], ...memory } = context.memory;
  return { ...context, memory: { ...memory, rare: rare.filter((name) => name !== "volcano") } };
};

const isDriver = (effect: Effect): effect is Extract<Effect, { do: "create" }> =>
  effect.do === "create" && effect.resource === pods && labelOf(effect.object, "spark-role") === "driver";

const awaiting = ({ key }: ApplicationContext, group?: Stored): { readonly do: "wait" } & Wait => ({
  ...{ do: "wait", pollMs: waitPollMs },
  waitsFor: until(
    `group ${key.namespace}/${groupNameOf(key.name)} of the driver and its executors`,
    "admitted",
    group === undefined ? undefined : whyOf(group),
  ),
});

/** Ends the attempt as one that never was: its pods are cleared, and the next attempt waits for the group. */
const givenBack = (context: ApplicationContext): Plan<Memory> => {
  const { memory } = context;
  const counts = {
    submissions: Math.max(0, memory.submissions - 1),
    executions: Math.max(0, memory.executions - 1),
  };
  return planOf(context, { ...memory, ...counts, state: { phase: "PENDING_RERUN" } }, undefined, {
    next: { do: "again" },
  });
};

/**
 * Waits for the group of an attempt that was handed out, and leaves the status: one that shows the submission says that the
 * driver was created, and without its pod the driver is then lost.
 */
const untold = (context: ApplicationContext, stage: readonly Effect[], group?: Stored): Plan<Memory> => ({
  memory: withGroup(context.memory),
  stages: [stage],
  next: awaiting(context, group),
});

type Submitting = { readonly plan: Plan<Memory>; readonly driver: Driver };

/** The submission with its driver pinned, and the executors' places remembered. */
const placed = ({ plan, driver }: Submitting, places: GangPlan): Plan<Memory> => {
  const [node] = nodesOf(places, driverTask);
  const stages = plan.stages.map((stage) =>
    stage.map((effect) => (isDriver(effect) ? { ...effect, object: pinnedPod(effect.object, node) } : effect)),
  );
  const executors = countsOf(nodesOf(places, executorTask));
  return { ...plan, stages, memory: withGroup({ ...plan.memory, driver: { ...driver, places: executors } }) };
};

/** Decides at the moment of a submission whether the group has its places. */
const admitted = (context: ApplicationContext, submitting: Submitting, group: Stored | undefined): Plan<Memory> => {
  const { view } = context;
  const isHandedOut = parts[context.memory.state.phase] === "running";
  const waiting = (stage: readonly Effect[], there?: Stored): Plan<Memory> => {
    if (isHandedOut) return untold(context, stage, there);
    return planOf(context, withGroup(context.memory), undefined, { stages: [stage], next: awaiting(context, there) });
  };
  const desired = groupFor(context, submitting.driver);
  if (desired === undefined || (group !== undefined && isEnding(group))) return waiting([]);
  if (group === undefined) {
    const create: Effect = { do: "create", object: desired, resource: volcanoPodGroups, owner: view.uid };
    return isHandedOut ? givenBack(context) : waiting([create]);
  }
  if (!isHandedOut && !isSame(group, desired)) return waiting([removal(group, volcanoPodGroups)], group);
  if (isWaiting(group)) return isHandedOut ? givenBack(context) : waiting([], group);
  const places = planIn(group);
  // Without a plan, the group was admitted where none was asked for.
  if (places === undefined) return { ...submitting.plan, memory: withGroup(submitting.plan.memory) };
  return isTimely(places, view.now) ? placed(submitting, places) : waiting([], group);
};

/** Pins the executors of the plan's run to the places that were planned for them. */
function* executorsPinned(
  context: ApplicationContext,
  plan: Plan<Memory>,
  group: Stored | undefined,
): Decision<Memory> {
  const { driver, allotment } = plan.memory;
  if (driver?.places === undefined || allotment?.attempt !== driver.attempt) return plan;
  if (!createsExecutors(plan.stages)) return plan;
  const standing = group ?? (yield* readGroup(context));
  return { ...plan, stages: yield* withPins(context, driver.places, plan.stages, standing) };
}

/** Looks again soon at a run whose group may still be taken back. */
const watched = (context: ApplicationContext, plan: Plan<Memory>, group: Stored): Plan<Memory> => {
  const isOpen = planIn(group) !== undefined && plan.next.do === "wait";
  const isAwaited = context.policies.gangRequired === "true" || plan.memory.state.phase === "SUBMITTED";
  if (!isOpen || !isAwaited || plan.next.do !== "wait") return plan;
  return { ...plan, next: { ...plan.next, pollMs: Math.min(plan.next.pollMs ?? pollMs, pollMs) } };
};

/** True if the act ends an attempt that was running. */
const endsRun = ({ memory: { state } }: ApplicationContext, { memory }: Plan<Memory>): boolean =>
  parts[state.phase] === "running" && parts[memory.state.phase] !== "running";

function* driversOf({ key, view, memory }: ApplicationContext): Reads<readonly Stored[]> {
  const labels = { [appUidLabel]: view.uid, "spark-role": "driver" };
  const there = yield* list({ do: "list", resource: pods, namespace: key.namespace, labels });
  return there.filter(({ metadata }) => metadata.name === memory.driver?.podName);
}

/** True if a driver is missing or on its way out, by whatever cause. */
function* isDriverGone(context: ApplicationContext): Reads<boolean> {
  return (yield* driversOf(context)).every((pod) => isEnding(pod) || isOver(podStatus(pod)));
}

/** True for an attempt that was handed out, and of which a step died before it created the driver. */
function* isUncreated(context: ApplicationContext): Reads<boolean> {
  const { driver } = context.memory;
  if (driver === undefined || driver.uid !== undefined || showsSubmission(context.object, driver)) return false;
  return (yield* driversOf(context)).length === 0;
}

/**
 * Decides for a run whose group gives its room to another group. The Eviction API ends its pods, as disruption budgets say;
 * until the driver is on its way out, nothing is created, so that no executor comes in the place of one that was evicted.
 */
function* evicted(context: ApplicationContext, group: Stored): Decision<Memory> {
  if (yield* isDriverGone(context)) return givenBack(context);
  return planOf(context, withGroup(context.memory), undefined, { stages: [[]], next: awaiting(context, group) });
}

/** Decides for a run whose group has lost its places; undefined if it has them. */
function* placesLost(context: ApplicationContext, group: Stored): Reads<Plan<Memory> | undefined> {
  if (isTakenBack(group)) return (yield* isUncreated(context)) ? untold(context, [], group) : givenBack(context);
  return isEvicted(group) ? yield* evicted(context, group) : undefined;
}

/** Reads the group of a run that is about to end: it may have been evicted. */
function* readEvicted(context: ApplicationContext): Reads<Stored | undefined> {
  const group = yield* readGroup(context);
  return group !== undefined && isEvicted(group) ? group : undefined;
}

/** Decides a step of an application; one that asks for no group is decided by the act alone. */
export const startWhole: GangDecision = function* (given, act): Decision<Memory> {
  if (!isGang(given)) return yield* act(given);
  const context = withMembership(given);
  const part = parts[context.memory.state.phase];
  const group = isLookedAt(context) ? yield* readGroup(context) : undefined;
  const lost = part === "running" && group !== undefined ? yield* placesLost(context, group) : undefined;
  if (lost !== undefined) return lost;
  const keeps = part === "before" && group !== undefined && !isEnding(group);
  const plan = yield* act(keeps ? withoutGroup(context) : context);
  const late = group === undefined && endsRun(context, plan) ? yield* readEvicted(context) : undefined;
  if (late !== undefined) return yield* evicted(context, late);
  const creates = plan.stages.flat().some(isDriver);
  const { driver } = plan.memory;
  if (part !== undefined && creates && driver !== undefined) return admitted(context, { plan, driver }, group);
  const kept = keeps ? { ...plan, memory: withGroup(plan.memory) } : plan;
  return yield* executorsPinned(context, group === undefined ? kept : watched(context, kept, group), group);
};
