/**
 * The result of the allocator in one step: the executors to create with their events, the wait of the run, and the
 * change that a refusal of the API server or a used-up quota makes.
 */
import { type Effect, quotaExceeded, type Refusal, type Wait } from "../../../core/plan.ts";
import { type WaitingOn, waitingText } from "../../../core/waiting-on.ts";
import { rulesFor } from "../../configuration/versions.ts";
import {
  type Allocation,
  allocate,
  crashesBefore,
  mostPrompt,
  paceOf,
  shortage,
  underwayIn,
} from "../../executors/allocation.ts";
import {
  type Allotment,
  type Grant,
  grantedAt,
  isLiving,
  type Member,
  refusedGrant,
  settlesAt,
} from "../../executors/allotment.ts";
import type { Scale } from "../../executors/demand.ts";
import { idSet, idsOf, listOfIds, textOfIds } from "../../executors/ids.ts";
import { sparkApplications } from "../../schema/resource.ts";
import type { ApplicationContext } from "../run/context.ts";
import type { Memory } from "../state/memory.ts";
import { idIn } from "../state/status.ts";
import { executorsFor, type Making, mostAtOnce } from "./create.ts";

export type AllocationResult = Pick<Wait, "wakeAt" | "pollMs" | "waitsFor"> & {
  readonly memory: Memory;
  readonly stages: readonly (readonly Effect[])[];
  readonly createWithinMs?: number;
};

export type Situation = Making & {
  readonly context: ApplicationContext;
  readonly members: readonly Member[];
  readonly allotment: Allotment;
  readonly expected: number;
  /** The bounds of dynamic allocation, where the driver decides how many executors it needs. */
  readonly scale: Scale | undefined;
  /** The driver's gauge in this step: 0 while no job runs. */
  readonly gauge?: number | undefined;
};

export const allocation = (
  { context, driver, pod, members, allotment, expected }: Situation,
  unsure: number,
): Allocation => {
  const { view, policies, read, settings } = context;
  const { sparkConf = {}, sparkVersion = "" } = read.ok ? read.spec : {};
  const pace = paceOf(policies, sparkConf, rulesFor(sparkVersion));
  const promptUntil = view.slow === true ? undefined : view.now + settings.prompt.settledMs;
  const granted = Math.min(expected, grantedAt([allotment.grant], view.now));
  const need = { expected: granted, members, allotment, unsure, pace: pace, now: view.now, promptUntil };
  if (shortage(need) <= mostPrompt) return allocate(need);
  const batch = Math.min(pace.batch, mostAtOnce(context, driver, pod));
  return allocate({ ...need, pace: { ...pace, batch } });
};

export const earlier = (a: number | undefined, b: number | undefined): { wakeAt?: number } => {
  const at = Math.min(a ?? Number.POSITIVE_INFINITY, b ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(at) ? { wakeAt: at } : {};
};

/**
 * The time at which creations of an earlier step count as never arrived, epoch ms: no event reports that. For creations
 * of this step the pods' own events do, or the trouble that the step meets.
 */
const overdueAt = ({ context: { settings }, allotment: { underway } }: Situation): number | undefined =>
  underway.length === 0 ? undefined : Math.min(...underway.map((round) => settlesAt(round, settings.settledMs)));

const maker = ({ context }: Situation): string => `executors of attempt ${context.memory.attempt}`;

/** Records an event under one name in every step of a run: the API server keeps the first. */
export const onceForTheRun = (situation: Situation, reason: string, message: string): Effect => ({
  do: "record",
  about: situation.context.object,
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

export const planned = (
  situation: Situation,
  { ids, allotment, wakeAt, waitsFor, exhausted }: Allocation,
  more: Partial<AllocationResult> = {},
): AllocationResult => {
  const { context } = situation;
  const { stages = [], ...extras } = more;
  const memory = { ...context.memory, allotment };
  const made = ids.length === 0 ? [] : executorsFor({ ...context, memory }, situation, ids);
  const events = [
    ...(exhausted === true && waitsFor !== undefined ? [maximumReached(situation, waitsFor)] : []),
    ...(ids.length > 0 && allotment.singleTask === true ? [singleTasks(situation)] : []),
  ];
  const isPrompt = ids.length > 0 && allotment.underway.at(-1)?.until !== undefined;
  return {
    ...(isPrompt ? { createWithinMs: context.settings.prompt.fenceMs } : {}),
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...extras,
    memory,
    stages: [...made, ...stages, ...(events.length === 0 ? [] : [events])],
    ...earlier(wakeAt, overdueAt(situation)),
  };
};

export const noneOf = ({ allotment }: Situation): Allocation => ({ ids: [], allotment, wakeAt: undefined });

/** The ids of executors whose creation was refused: their pods never come. */
const idsOfRefused = (refused: readonly Refusal[]): ReadonlySet<number> =>
  new Set(refused.flatMap(({ effect }) => (effect.do === "create" ? (idIn(effect.object.metadata.name) ?? []) : [])));

/** Remembers what a used-up quota grants. Executors that it admitted in the same step may still be on their way. */
const limitedHere = (situation: Situation, refused: readonly Refusal[], why: string): AllocationResult => {
  const { context, allotment, members } = situation;
  const never = idsOfRefused(refused);
  const underway = allotment.underway
    .map(({ ids, ...round }) => ({
      ...round,
      ids: textOfIds(idSet(listOfIds(idsOf(ids)).filter((id) => !never.has(id)))),
    }))
    .filter(({ ids }) => ids !== "");
  const left = { ...allotment, underway };
  const granted = members.filter(isLiving).length + underwayIn(left);
  const grant = refusedGrant(allotment.grant, granted, why, context.view.now);
  const event = onceForTheRun(
    situation,
    "ExecutorsLimited",
    `fewer executors run than are wanted: ${why}`.slice(0, 1_024),
  );
  const none = noneOf({ ...situation, allotment: { ...left, grant } });
  return planned(
    situation,
    { ...none, wakeAt: grant.until, waitsFor: limitedBy(situation, grant) },
    { stages: [[event]] },
  );
};

export const limitedBy = ({ expected }: Situation, { executors, why }: Grant): WaitingOn => ({
  on: "grant",
  wanted: expected,
  granted: executors,
  why,
});

/** Records creations that the API server refused, and retries them with the delay of crashes. */
export const refusedHere = (situation: Situation): AllocationResult | undefined => {
  const { context, allotment, expected } = situation;
  const refused = context.view.refused.filter(({ effect }) => effect.do === "create");
  const [first] = refused.filter(({ reason }) => reason !== quotaExceeded);
  if (first === undefined)
    return refused[0] === undefined ? undefined : limitedHere(situation, refused, refused[0].message);
  const about = {
    about: context.object,
    resource: sparkApplications,
    occasion: `${maker(situation)} ${first.message}`,
  };
  const message = `an executor was refused: ${first.message}`.slice(0, 1_024);
  const count = Math.max(allotment.crashes?.count ?? 0, crashesBefore(expected)) + refused.length;
  const held = { ...allotment, underway: [], crashes: { count, at: context.view.now } };
  const event: Effect = { do: "record", ...about, type: "Warning", reason: "ExecutorRefused", message };
  return planned(situation, allocation({ ...situation, allotment: held }, 0), { stages: [[event]] });
};
