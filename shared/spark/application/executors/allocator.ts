/**
 * Rekindle as the allocator of a run's executors. Executors are created once the driver listens, and again for each
 * that is lost; for one that exited with 0 only when the driver says that the application goes on. A silent REST API of
 * the driver stops no decision that does not need it, and ends no executor.
 */

import type { Reads } from "../../../core/decision.ts";
import type { Stored } from "../../../core/object.ts";
import type { Effect, Wait } from "../../../core/plan.ts";
import { instantOf } from "../../../core/time.ts";
import { until, type WaitingOn, waitingText } from "../../../core/waiting-on.ts";
import { podStatus } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { rulesFor } from "../../configuration/versions.ts";
import { recoveryMode } from "../../executor-pod/environment.ts";
import { type Allocation, allocate, crashesBefore, mostPrompt, shortage } from "../../executors/allocate.ts";
import { paceOf } from "../../executors/allocation-rate.ts";
import { type Allotment, settlesAt } from "../../executors/allotment.ts";
import { idsOf } from "../../executors/ids.ts";
import { freshLedger } from "../../executors/ledger.ts";
import { endingOf } from "../../executors/losses.ts";
import {
  afterCrashes,
  afterLook,
  endedAt,
  isLiving,
  type Member,
  newlyEnded,
  quitters,
} from "../../executors/members.ts";
import { wantedOf } from "../../executors/owner.ts";
import { shrink } from "../../executors/scale-down.ts";
import { sparkApplications } from "../../schema/resource.ts";
import { type ApplicationContext, removal } from "../run/context.ts";
import type { Pods } from "../state/evidence.ts";
import type { Driver, Memory } from "../state/memory.ts";
import { executorsFor, type Making, mostAtOnce } from "./create.ts";
import { askDriver, type DriverAnswer } from "./driver-api.ts";
import { membersOfRun } from "./lookup.ts";
import { isLeaving } from "./node-drain.ts";
import { terminationsOf } from "./repair.ts";

export type AllocationResult = Pick<Wait, "wakeAt" | "pollMs" | "waitsFor"> & {
  readonly memory: Memory;
  readonly stages: readonly (readonly Effect[])[];
  readonly createWithinMs?: number;
};

const byJudgement = ({ pod }: Member): Effect => {
  const { name, namespace, uid, resourceVersion } = pod.metadata;
  const ref = { resource: pods, name, ...(namespace === undefined ? {} : { namespace }) };
  return { do: "delete", ref, uid, resourceVersion };
};

type Situation = Making & {
  readonly scene: ApplicationContext;
  readonly members: readonly Member[];
  readonly allotment: Allotment;
  readonly expected: number;
};

const allocation = ({ scene, driver, pod, members, allotment, expected }: Situation, unsure: number): Allocation => {
  const { view, policies, read, settings } = scene;
  const { sparkConf = {}, sparkVersion = "" } = read.ok ? read.spec : {};
  const asked = paceOf(policies, sparkConf, rulesFor(sparkVersion));
  const promptUntil = view.slow === true ? undefined : view.now + settings.prompt.settledMs;
  const need = { expected, members, allotment, unsure, pace: asked, now: view.now, promptUntil };
  if (shortage(need) <= mostPrompt) return allocate(need);
  const batch = Math.min(asked.batch, mostAtOnce(scene, driver, pod));
  return allocate({ ...need, pace: { ...asked, batch } });
};

export const earlier = (a: number | undefined, b: number | undefined): { wakeAt?: number } => {
  const at = Math.min(a ?? Number.POSITIVE_INFINITY, b ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(at) ? { wakeAt: at } : {};
};

/**
 * The time at which creations of an earlier step count as never arrived, epoch ms: no event reports that. For creations
 * of this step the pods' own events do, or the trouble that the step meets.
 */
const overdueAt = ({ scene: { settings }, allotment: { underway } }: Situation): number | undefined =>
  underway.length === 0 ? undefined : Math.min(...underway.map((round) => settlesAt(round, settings.settledMs)));

const maker = ({ scene }: Situation): string => `executors of attempt ${scene.memory.attempt}`;

/** Records an event under one name in every step of a run: the API server keeps the first. */
const onceForTheRun = (situation: Situation, reason: string, message: string): Effect => ({
  do: "record",
  about: situation.scene.object,
  resource: sparkApplications,
  occasion: maker(situation),
  type: "Warning",
  reason,
  message,
});

const maximumReached = (situation: Situation, waitsFor: WaitingOn): Effect =>
  onceForTheRun(situation, "ExecutorMaximumReached", `the run continues without ${waitingText(waitsFor)}`);

const singleTasks = (situation: Situation): Effect => {
  const message =
    "an executor ran out of memory, so executors created from here on run one task at a time, as in Spark's recovery mode; spark.kubernetes.allocation.recoveryMode.enabled=false turns that off";
  return onceForTheRun(situation, "ExecutorRecoveryMode", message);
};

const planned = (
  situation: Situation,
  { ids, allotment, wakeAt, waitsFor, exhausted }: Allocation,
  more: Partial<AllocationResult> = {},
): AllocationResult => {
  const { scene } = situation;
  const { stages = [], ...extras } = more;
  const memory = { ...scene.memory, allotment };
  const made = ids.length === 0 ? [] : executorsFor({ ...scene, memory }, situation, ids);
  const events = [
    ...(exhausted === true && waitsFor !== undefined ? [maximumReached(situation, waitsFor)] : []),
    ...(ids.length > 0 && allotment.singleTask === true ? [singleTasks(situation)] : []),
  ];
  const isPrompt = ids.length > 0 && allotment.underway.at(-1)?.until !== undefined;
  return {
    ...(isPrompt ? { createWithinMs: scene.settings.prompt.fenceMs } : {}),
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...extras,
    memory,
    stages: [...made, ...stages, ...(events.length === 0 ? [] : [events])],
    ...earlier(wakeAt, overdueAt(situation)),
  };
};

/** Remembers the reason of the deletions before they happen. */
const dismissing = (
  { scene: { memory, view }, driver: { attempt } }: Situation,
  leaving: readonly Member[],
): Memory => {
  if (leaving.length === 0) return memory;
  const ledger = memory.executors?.attempt === attempt ? memory.executors : freshLedger(attempt);
  const why = "fewer executors are wanted";
  const dooms = leaving.map(({ pod }) => ({ pod, reason: "dismissed", why, forced: false }) as const);
  const anew = new Set(leaving.map(({ id }) => id));
  const others = (ledger.doomed ?? []).filter(({ id }) => !anew.has(id));
  const doomed = [...others, ...terminationsOf(dooms, idsOf(ledger.over ?? ""), view.now)];
  return { ...memory, executors: { ...ledger, doomed } };
};

/** Plans after the driver's answer: replaces executors that exited with 0 if it goes on, deletes surplus ones. */
const settle = (situation: Situation, heard: DriverAnswer, late = false): AllocationResult => {
  const { scene, members, expected } = situation;
  const quit = quitters(members);
  const goesOn = heard.registered !== undefined;
  const next = allocation(situation, goesOn ? 0 : quit.length);
  const force = scene.policies.executorScaleDown === "force";
  const { leaving, kept } = shrink({ expected, members, busy: heard.registered?.busy, force });
  const now = { ...situation, scene: { ...scene, memory: dismissing(situation, leaving) } };
  const done = goesOn ? quit.map(({ pod }) => removal(pod, pods)) : [];
  const polls = kept > 0 || (!goesOn && quit.length > 0) ? { pollMs: 10_000 } : {};
  const waits = kept > 0 ? { waitsFor: { on: "surplus", executors: kept } as const } : {};
  const lasts = late || kept > 0 || quit.some((one) => endedAt(one) + silenceMs <= scene.view.now);
  const events = goesOn || !lasts ? [] : unheard(situation, heard.why);
  return planned(now, next, { stages: [[...done, ...leaving.map(byJudgement)], events], ...polls, ...waits });
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
const awaitDriver = (situation: Situation, heard: DriverAnswer): AllocationResult => {
  const { scene, pod, allotment } = situation;
  const listens = { ...situation, allotment: { ...allotment, listens: true } };
  if (heard.registered !== undefined) return settle(listens, heard);
  const startedAt = instantOf(podStatus(pod).startTime ?? pod.metadata.creationTimestamp) ?? scene.view.now;
  if (scene.view.now < startedAt + driverListensWithinMs)
    return planned(situation, noneOf(situation), { pollMs: 1_000, waitsFor: until("the driver", "listening") });
  return settle(listens, heard, true);
};

const noneOf = ({ allotment }: Situation): Allocation => ({ ids: [], allotment, wakeAt: undefined });

/** Records creations that the API server refused, and retries them with the delay of crashes. */
const refusedHere = (situation: Situation): AllocationResult | undefined => {
  const { scene, allotment, expected } = situation;
  const refused = scene.view.refused.filter(({ effect }) => effect.do === "create");
  const [first] = refused;
  if (first === undefined) return undefined;
  const about = {
    about: scene.object,
    resource: sparkApplications,
    occasion: `${maker(situation)} ${first.message}`,
  };
  const message = `an executor was refused: ${first.message}`.slice(0, 1_024);
  const count = Math.max(allotment.crashes?.count ?? 0, crashesBefore(expected)) + refused.length;
  const held = { ...allotment, underway: [], crashes: { count, at: scene.view.now } };
  const event: Effect = { do: "record", ...about, type: "Warning", reason: "ExecutorRefused", message };
  return planned(situation, allocation({ ...situation, allotment: held }, 0), { stages: [[event]] });
};

/** Replaces losses that need no answer of the driver first; asks the driver only where the decision depends on it. */
function* decided(situation: Situation): Reads<AllocationResult> {
  const { scene, driver, members, allotment, expected } = situation;
  const refused = refusedHere(situation);
  if (refused !== undefined) return refused;
  const quit = quitters(members).length;
  const surplus = members.filter(isLiving).length > expected;
  const next = allotment.listens === true ? allocation(situation, quit) : noneOf(situation);
  const asks = quit > 0 || surplus;
  if (next.ids.length > 0) return planned(situation, next, asks ? { pollMs: 1_000 } : {});
  if (allotment.listens === true && !asks) return planned(situation, next);
  const heard = yield* askDriver(scene, driver);
  return allotment.listens === true ? settle(situation, heard) : awaitDriver(situation, heard);
}

/**
 * True when executors run one task at a time. Spark turns its recovery mode on when the text of a loss says OOM, which
 * the text of a SIGKILL does as well; here only lack of memory counts. A conf that is set decides by itself.
 */
const isShortOfMemory = (
  { read, memory }: ApplicationContext,
  { attempt, singleTask }: Allotment,
  members: readonly Member[],
): boolean => {
  if (!read.ok || read.spec.sparkConf?.[recoveryMode] !== undefined) return false;
  if (!rulesFor(read.spec.sparkVersion).executors.resizable) return false;
  const lost = memory.executors?.attempt === attempt ? (memory.executors.lost?.memory ?? 0) : 0;
  return singleTask === true || lost > 0 || members.some(({ pod }) => endingOf(pod)?.reason === "memory");
};

/** A run whose executors are created: its driver with its pod, and the pods of the list. */
export type OwnRun = { readonly driver: Driver; readonly pod: Stored; readonly found: Pods };

/** Allocates among `members`, all executors of the run; undefined where the driver is the allocator. */
export function* allocateAmong(
  scene: ApplicationContext,
  { driver, pod, found }: OwnRun,
  members: readonly Member[],
): Reads<AllocationResult | undefined> {
  const before = scene.memory.allotment;
  if (before?.attempt !== driver.attempt || !scene.read.ok) return undefined;
  const looked = afterLook(before, members, { now: scene.view.now, settledMs: scene.settings.settledMs });
  const crashes = afterCrashes(before.crashes, newlyEnded(before, members));
  const { crashes: _, ...rest } = looked;
  const allotment: Allotment = {
    ...rest,
    ...(crashes === undefined ? {} : { crashes }),
    ...(isShortOfMemory(scene, before, members) ? { singleTask: true } : {}),
  };
  // An executor on a node that is about to go does not count: its replacement is created first.
  const staying = members.filter((member) => !isLeaving(member));
  const expected = wantedOf(scene.read.spec);
  return yield* decided({ scene, driver, pod, there: found.executors, members: staying, allotment, expected });
}

/** Allocates among all executors that there are. */
export function* allocateExecutors(scene: ApplicationContext, run: OwnRun): Reads<AllocationResult | undefined> {
  const { allotment } = scene.memory;
  if (allotment?.attempt !== run.driver.attempt || !scene.read.ok) return undefined;
  return yield* allocateAmong(scene, run, yield* membersOfRun(scene, allotment, run.found));
}
