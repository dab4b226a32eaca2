/**
 * Rekindle as the allocator of a run's executors. Executors are created once the driver listens, and again for each
 * that is lost; for one that exited with 0 only when the driver says that the application goes on. A silent REST API
 * of the driver stops no decision that does not need it, and ends no executor. The allocator's result joins the plan
 * of a followed run, urgent creations first.
 */

import { type Reads, withoutReading } from "../../../core/decision.ts";
import type { Stored } from "../../../core/object.ts";
import { type Effect, type Plan, type Safety, soonest, type Wait } from "../../../core/plan.ts";
import { instantOf } from "../../../core/time.ts";
import { until } from "../../../core/waiting-on.ts";
import { podStatus } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { type Allocation, type ShrinkResult, underwayIn } from "../../executors/allocation.ts";
import {
  type Allotment,
  afterCrashes,
  afterLook,
  endedAt,
  grantAfterLook,
  handedOut,
  isLiving,
  type Member,
  newlyEnded,
  quitters,
  settlesAt,
} from "../../executors/allotment.ts";
import { claimPolicyOf } from "../../executors/claim-policy.ts";
import { handoverOf } from "../../executors/claims.ts";
import { demandAfter, firstDemand, gaugeEveryMs, scaleOf } from "../../executors/demand.ts";
import { type ApplicationContext, removal } from "../run/context.ts";
import { asksDeletion } from "../run/executor-retention.ts";
import { planOf } from "../run/plan.ts";
import type { Pods } from "../state/evidence.ts";
import type { Driver, Memory } from "../state/memory.ts";
import {
  type AllocationResult,
  allocation,
  creationsIn,
  isShortOfMemory,
  leavesReports,
  limitedBy,
  noneOf,
  onceForTheRun,
  planned,
  refusedHere,
  type Situation,
} from "./allocation-result.ts";
import { overheadAfter } from "./executor-builder.ts";
import { readGrowths, withGrown, withGrowth, withPlacement } from "./growth.ts";
import {
  askDriver,
  askGauge,
  baseIn,
  type DriverAnswer,
  expectedOf,
  isDriverUp,
  lostSince,
  membersOfRun,
  readClaims,
  unadmittedWait,
  withMembers,
} from "./lookup.ts";
import { isLeaving } from "./node-drain.ts";
import { byJudgement, dismissing, hasSurplus, moving, surplusOf } from "./surplus.ts";

type Heard = { readonly answer: DriverAnswer; readonly surplus: ShrinkResult };

/** Plans after the driver's answer: replaces executors that exited with 0 if it goes on, deletes surplus ones. */
const settle = (situation: Situation, { answer: heard, surplus }: Heard, late = false): AllocationResult => {
  const { context, members } = situation;
  const quit = quitters(members);
  const goesOn = heard.registered !== undefined;
  const next = allocation(situation, goesOn ? (situation.handover?.heldOfQuit ?? 0) : quit.length);
  const { leaving, kept } = surplus;
  const grace = moving(situation) ? context.policies.leaveMs : undefined;
  const now = { ...situation, context: { ...context, memory: dismissing(situation, leaving) } };
  const done = goesOn ? quit.map(({ pod }) => removal(pod, pods)) : [];
  const polls = kept > 0 || (!goesOn && quit.length > 0) ? { pollMs: 10_000 } : {};
  const waits = kept > 0 ? { waitsFor: { on: "surplus", executors: kept } as const } : {};
  // A surplus of a demand stays for long, and a driver that ends its work is silent for a moment.
  const lasts =
    late ||
    (kept > 0 && situation.scale === undefined) ||
    quit.some((one) => endedAt(one) + silenceMs <= context.view.now);
  const events = goesOn || !lasts ? [] : unheard(situation, heard.why);
  return planned(now, next, {
    stages: [[...done, ...leaving.map(byJudgement(grace))], events],
    ...polls,
    ...waits,
  });
};

/** A driver that ends its work is silent for a moment as well: only a longer silence is reported. */
const silenceMs = 60_000;

/** Records once a run that the driver's registrations are unknown. */
const unheard = (situation: Situation, why: string): readonly Effect[] => {
  const message = `the driver's REST API does not answer, so its registered executors are unknown: ${why}`;
  return [onceForTheRun(situation, "RegistrationUnknown", message)];
};

/** The longest wait for a started driver's answer, ms: without an answer, executors are created after it. */
const driverListensWithinMs = 120_000;

/** Waits for the driver's first answer: executors that start before its RPC listens would give up and end. */
const awaitDriver = (situation: Situation, heard: Heard): AllocationResult => {
  const { context, pod, allotment } = situation;
  const listens = { ...situation, allotment: { ...allotment, listens: true, ...beginning(situation) } };
  if (heard.answer.registered !== undefined) return settle(listens, heard);
  const startedAt = instantOf(podStatus(pod).startTime ?? pod.metadata.creationTimestamp) ?? context.view.now;
  if (context.view.now < startedAt + driverListensWithinMs)
    return planned(situation, noneOf(situation), { pollMs: 1_000, waitsFor: until("the driver", "listening") });
  return settle(listens, heard, true);
};

/** The demand of a driver that has begun to listen. */
const beginning = ({ scale, context, members }: Situation): Pick<Allotment, "demand"> =>
  scale === undefined ? {} : { demand: firstDemand(scale, members.filter(isLiving).length, context.view.now) };

/** Reads the driver's demand, unless an answer has just changed it. Without an answer the last demand stands. */
function* demanded(situation: Situation): Reads<Situation> {
  const { context, driver, allotment, scale } = situation;
  const { demand } = allotment;
  if (scale === undefined || allotment.listens !== true) return situation;
  const { now } = context.view;
  const before = demand ?? firstDemand(scale, situation.members.filter(isLiving).length, now);
  if (demand !== undefined && now < demand.at + gaugeEveryMs) return situation;
  const gauge = yield* askGauge(context, driver);
  // The driver counts with the tasks that a usual executor runs at once.
  const need = gauge === undefined ? undefined : gauge * (allotment.singleTask === true ? scale.slots : 1);
  const after = need === undefined ? before : demandAfter(scale, before, need, now);
  return { ...situation, gauge, allotment: { ...allotment, demand: after }, expected: expectedOf(context, after) };
}

/** Reads the claims that may be handed on, where executors are about to be created and each has claims of its own. */
function* withHandover(situation: Situation): Reads<Situation> {
  const { context, allotment, members, expected, pod, handover } = situation;
  const { read, memory, view } = context;
  const policy = read.ok ? claimPolicyOf(read.spec.sparkConf ?? {}) : undefined;
  const isNeeded = policy !== undefined && handover === undefined && handedOut(allotment) > 0;
  if (!isNeeded || allocation(situation, 0).ids.length === 0) return situation;
  const { claims, pods } = yield* readClaims(context, allotment, situation.there);
  const handed = handoverOf(
    { claims, pods: [pod, ...pods] },
    {
      ...{ policy, allotment, expected, now: view.now },
      short: expected - members.filter(isLiving).length - underwayIn(allotment),
      deletes: asksDeletion(context) === undefined,
      isStuck: memory.executors?.attempt === allotment.attempt && memory.executors.care?.stuck !== undefined,
    },
  );
  return { ...situation, handover: handed };
}

/** Creates executors. Unless losses or the demand explain their number, the list may be older than the driver's end. */
function* confirmed(situation: Situation, next: Allocation, asks: boolean): Reads<AllocationResult> {
  const { context, driver, members, gauge } = situation;
  const isExplained = gauge !== undefined || next.ids.length <= lostSince(context, members);
  if (isExplained || (yield* isDriverUp(context, driver)))
    return planned(situation, next, asks ? { pollMs: 1_000 } : {});
  return planned(situation, noneOf(situation), { pollMs: 1_000 });
}

/** Replaces losses that need no answer of the driver first; asks the driver only where the decision depends on it. */
function* decided(start: Situation): Reads<AllocationResult> {
  const refused = refusedHere(start);
  if (refused !== undefined) return refused;
  const given = yield* withHandover(yield* withPlacement(start));
  const quit = quitters(given.members).length;
  const listens = given.allotment.listens === true;
  const lost = listens ? allocation(given, quit) : noneOf(given);
  if (lost.ids.length > 0) return yield* confirmed(given, lost, quit > 0 || hasSurplus(given));
  const situation = yield* withHandover(yield* withPlacement(yield* demanded(given)));
  const next = listens ? allocation(situation, quit) : noneOf(situation);
  const asks = quit > 0 || hasSurplus(situation);
  if (next.ids.length > 0) return yield* confirmed(situation, next, asks);
  if (listens && !asks) return planned(situation, next);
  const answer = yield* askDriver(situation.context, situation.driver);
  const heard = { answer, surplus: yield* surplusOf(situation, answer) };
  return listens ? settle(situation, heard) : awaitDriver(situation, heard);
}

/** The wait of a run to which fewer executors are granted than it wants. */
const limitedWait = (situation: Situation, { memory, wakeAt }: AllocationResult): Partial<AllocationResult> => {
  const grant = memory.allotment?.grant;
  if (grant === undefined) return {};
  const next = grant.until > situation.context.view.now ? grant.until : undefined;
  return { waitsFor: limitedBy(situation, grant), ...soonest(wakeAt, next) };
};

/** A run whose number of executors follows its driver's demand is looked at regularly: no event tells of a demand. */
const followed = (situation: Situation, result: AllocationResult): AllocationResult => ({
  ...unadmittedWait(situation.context, result.memory.allotment?.demand),
  ...result,
  ...limitedWait(situation, result),
  ...(situation.scale === undefined || result.memory.allotment?.listens !== true
    ? {}
    : { pollMs: Math.min(result.pollMs ?? gaugeEveryMs, gaugeEveryMs) }),
});

/** A run whose executors are created: its driver with its pod, and the pods of the list. */
export type OwnRun = { readonly driver: Driver; readonly pod: Stored; readonly found: Pods };

/** Allocates among `members`, all executors of the run; undefined where the driver is the allocator. */
function* allocateAmong(
  given: ApplicationContext,
  { driver, pod, found }: OwnRun,
  members: readonly Member[],
): Reads<AllocationResult | undefined> {
  if (given.memory.allotment?.attempt !== driver.attempt || !given.read.ok) return undefined;
  const { growths, flavors } = yield* readGrowths(given);
  const before = withGrown(given.memory.allotment, growths, flavors);
  const context = { ...given, memory: { ...given.memory, allotment: before } };
  const looked = afterLook(before, members, { now: context.view.now, settledMs: context.settings.settledMs });
  const crashes = afterCrashes(before.crashes, newlyEnded(before, members));
  const { crashes: _, grant: __, overhead: ___, ...rest } = looked;
  const overhead = overheadAfter(context, driver, members);
  const grant = grantAfterLook(looked.grant, members.filter(isLiving).length, expectedOf(context));
  const allotment: Allotment = {
    ...rest,
    ...(grant === undefined ? {} : { grant }),
    ...(crashes === undefined ? {} : { crashes }),
    ...(overhead === undefined ? {} : { overhead }),
    ...(isShortOfMemory(context, before, members) ? { singleTask: true } : {}),
  };
  // An executor on a node that is about to go does not count: its replacement is created first.
  // Where Kueue admits executors, it would be one too many.
  const staying = baseIn(context) === undefined ? members.filter((member) => !isLeaving(member)) : members;
  const expected = expectedOf(context);
  const scale = scaleOf(given.read.spec);
  const situation = {
    context: context,
    driver,
    pod,
    // The members may be read anew after a list that is behind: they show the notices, and mount the claims.
    there: withMembers(found, members).executors,
    members: staying,
    allotment,
    expected,
    scale,
    growths,
  };
  return yield* withGrowth(situation, followed(situation, yield* decided(situation)));
}

/** Allocates among all executors that there are. */
export function* allocateExecutors(context: ApplicationContext, run: OwnRun): Reads<AllocationResult | undefined> {
  const { allotment } = context.memory;
  if (allotment?.attempt !== run.driver.attempt || !context.read.ok) return undefined;
  const members = yield* membersOfRun(context, allotment, run.found);
  return yield* allocateAmong(context, run, members);
}

type Plain = Wait & { readonly stages: readonly (readonly Effect[])[] };

/** The step's other effects. While executors are created, `spent` waits for the next step, which their events bring. */
type Base = Plain & { readonly spent?: readonly Effect[] };

/** The wait of a plan joined with the allocator's wait. */
export const waiting = (plain: Wait, { wakeAt, pollMs, waitsFor }: AllocationResult): Wait => ({
  ...plain,
  ...(pollMs === undefined ? {} : { pollMs }),
  ...(waitsFor === undefined ? {} : { waitsFor }),
  ...soonest(plain.wakeAt, wakeAt),
});

/** Ids are bound to the save, and executors on their way are counted; one that never appeared is given up on live reads. */
export const safetyOf = (
  { memory, view, settings }: ApplicationContext,
  { createWithinMs, live }: AllocationResult,
): Safety => {
  const overdue = memory.allotment?.underway.some((round) => settlesAt(round, settings.settledMs) <= view.now) === true;
  return {
    ...(overdue || live === true ? { live: true } : {}),
    ...(createWithinMs === undefined ? {} : { createWithinMs }),
  };
};

/** Creates missing executors before any other read, in the same step. */
export const ahead = (
  context: ApplicationContext,
  run: OwnRun,
  members: readonly Member[],
  wait: Wait,
): Plan<Memory> | undefined => {
  const owned = withoutReading(allocateAmong(context, run, members));
  if (owned === undefined || creationsIn(owned) === 0) return undefined;
  const { memory, stages } = owned;
  return { memory, stages, next: { do: "continue", ...wait }, safety: safetyOf(context, owned) };
};

/** Creates missing executors, and leaves the reports to the next step; `untold` is remembered for it. */
export const rushed = (
  context: ApplicationContext,
  owned: AllocationResult | undefined,
  { plain, untold }: { readonly plain: Plain; readonly untold: readonly number[] },
): Plan<Memory> | undefined => {
  if (owned === undefined || !leavesReports(context, owned, untold)) return undefined;
  const { memory, stages: made } = owned;
  const { stages: others, ...wait } = plain;
  const stages = [...made, ...others];
  const { executors } = memory;
  return {
    stages,
    next: { do: "wait", ...waiting(wait, owned) },
    safety: safetyOf(context, owned),
    memory:
      executors === undefined || untold.length === 0
        ? memory
        : { ...memory, executors: { ...executors, untold: [...untold] } },
  };
};

/** The plan of a run whose driver runs: missing executors first, then the rest of the step. */
export const supplied = (
  context: ApplicationContext,
  found: Pods,
  owned: AllocationResult | undefined,
  plain: Base,
): Plan<Memory> => {
  const { spent = [], stages: others, ...wait } = plain;
  if (owned === undefined)
    return planOf(context, context.memory, found, { stages: [spent, ...others], next: { do: "wait", ...wait } });
  const { memory, stages: made } = owned;
  const stages = [...made, ...(creationsIn(owned) > 0 ? [] : [spent]), ...others];
  const safety = safetyOf(context, owned);
  return planOf(context, memory, found, { stages, next: { do: "wait", ...waiting(wait, owned) }, safety });
};
