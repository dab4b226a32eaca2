/**
 * The result of the allocator in one step: the executors to create under ids that were handed out, the claims that they
 * are not handed on, then their pods; their events, the wait of the run, and the change that a refusal of the API
 * server or a used-up quota makes.
 */
import type { Obj, OwnerReference, Stored } from "../../../core/object.ts";
import { type Effect, quotaExceeded, type Refusal, soonest, type Wait } from "../../../core/plan.ts";
import { until, type WaitingOn, waitingText } from "../../../core/waiting-on.ts";
import { workloads } from "../../../kube/kueue.ts";
import { pods as podResource } from "../../../kube/resources.ts";
import { rulesFor } from "../../configuration/versions.ts";
import type { ExecutorBuilder } from "../../executor-pod/builder.ts";
import { recoveryMode } from "../../executor-pod/container.ts";
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
import { claimPolicyOf } from "../../executors/claim-policy.ts";
import { type Handover, handOn, labelled, marksOf, withClaims } from "../../executors/claims.ts";
import type { Scale } from "../../executors/demand.ts";
import { type Room, roomIn } from "../../executors/flavors.ts";
import type { Growth } from "../../executors/growth.ts";
import { idSet, idsOf, listOfIds, textOfIds } from "../../executors/ids.ts";
import { mostReported } from "../../executors/ledger.ts";
import { endingOf } from "../../executors/losses.ts";
import { avoidedNodes, closingNodes, placedElsewhere } from "../../executors/nodes.ts";
import { madeHere } from "../../executors/owner.ts";
import { podLabels } from "../../submission/additions.ts";
import type { ApplicationContext } from "../run/context.ts";
import { creation } from "../run/submit.ts";
import type { Driver, Memory } from "../state/memory.ts";
import { idIn, showsRecord } from "../state/status.ts";
import { builderFor, mostAtOnce } from "./executor-builder.ts";
import { grantsIn } from "./lookup.ts";
import { type FlavorPlacement, onNodesOf } from "./placement.ts";

/** Adds the attempt's labels and owner, by which claims are found, and the annotation of the pod's allocator. */
const marked = (object: Obj, { key, kind, view }: ApplicationContext, { attempt, submissionId }: Driver): Obj => {
  const { namespace, name } = key;
  const app = { name, namespace, uid: view.uid };
  const owner: OwnerReference = kind.owner(app);
  const { labels, annotations, ownerReferences = [] } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      namespace,
      labels: { ...labels, ...podLabels({ app, attempt, submissionId }) },
      annotations: { ...annotations, ...madeHere },
      ownerReferences: [...ownerReferences.filter(({ uid }) => uid !== view.uid), owner],
    },
  };
};

/** The driver with its pod, for which executors are created, and the executors that are there. */
type CreationInput = {
  readonly driver: Driver;
  readonly pod: Stored;
  readonly there: readonly Stored[];
  /** The nodes of the flavors that the next executors are for; undefined where these are the base's, or were not read. */
  readonly placement?: FlavorPlacement | undefined;
};

/** Executors to create, and the claims that each is handed. */
type Creation = {
  readonly ids: readonly number[];
  readonly handed: readonly (readonly (Stored | undefined)[])[];
};

/** Creates claims, then the pods in one stage, in parallel: a claim without a pod is handed on, but not the reverse. */
const executorsFor = (
  context: ApplicationContext,
  { driver, there, placement: nodes }: CreationInput,
  builder: ExecutorBuilder,
  { ids, handed }: Creation,
): readonly (readonly Effect[])[] => {
  const { losses = [], doomed = [] } = context.memory.executors ?? {};
  const known = [...losses, ...doomed];
  const { now } = context.view;
  const placement = { closing: closingNodes(there, known, now), avoided: avoidedNodes(known, now) };
  const { uid } = context.view;
  const { namespace } = context.key;
  const all = ids.map((id) => `${id}`);
  const executor = (id: string, at: number) => withClaims(builder.build(id), handed[at] ?? []);
  const pods = all.map(
    (id, at): Effect => ({
      do: "create",
      object: { apiVersion: "v1", kind: "Pod", metadata: { name: builder.podName(id), namespace } },
      body: () => marked(onNodesOf(placedElsewhere(executor(id, at).pod, placement), nodes), context, driver),
      resource: podResource,
      owner: uid,
      limited: true,
    }),
  );
  // All executors have as many claims as the first.
  const isBare = (handed[0] ?? []).length === 0;
  const claims = isBare ? [] : all.flatMap((id, at) => executor(id, at).claims.map((claim) => labelled(claim, id)));
  return [claims.map((claim) => creation(marked(claim, context, driver), uid)), pods];
};

export type AllocationResult = Pick<Wait, "wakeAt" | "pollMs" | "waitsFor"> & {
  readonly memory: Memory;
  readonly stages: readonly (readonly Effect[])[];
  readonly createWithinMs?: number;
  /** Quota is given back: the pods that used it are read live before. */
  readonly live?: true;
};

export const creationsIn = ({ stages }: Pick<AllocationResult, "stages">): number =>
  stages.flat().filter((effect) => effect.do === "create" && effect.resource !== workloads).length;

const adds = ({ stages }: AllocationResult): boolean =>
  stages.flat().every(({ do: act }) => act === "create" || act === "record");

/**
 * True if a step creates executors, and leaves Events and status to the next step, which the events of these executors
 * bring: both steps together then write each once. A step with few creations leaves them only if the status shows the
 * state of the run, the record has room for the losses, `untold`, and no executor is deleted.
 */
export const leavesReports = (
  { object, memory }: ApplicationContext,
  owned: AllocationResult,
  untold: readonly number[],
): boolean => {
  const created = creationsIn(owned);
  const hasRoom = untold.length < mostReported;
  return created > mostPrompt || (created > 0 && hasRoom && adds(owned) && showsRecord(object, memory));
};

export type Situation = CreationInput & {
  readonly context: ApplicationContext;
  readonly members: readonly Member[];
  readonly allotment: Allotment;
  readonly expected: number;
  /** The bounds of dynamic allocation, where the driver decides how many executors it needs. */
  readonly scale: Scale | undefined;
  /** The driver's gauge in this step: 0 while no job runs. */
  readonly gauge?: number | undefined;
  /** The claims that may be handed on; undefined where they were not read. */
  readonly handover?: Handover | undefined;
  /** The growths of the run. */
  readonly growths: readonly Growth[];
  /** The reason why the nodes of the next executors are not known. */
  readonly lacks?: string | undefined;
};

/** The flavors that the next executors are for, and the number of executors that may live with these. */
export const roomOf = ({ context, members, allotment }: Situation): Room => {
  const grants = grantsIn(context);
  if (grants === undefined) return { flavors: "", executors: Number.POSITIVE_INFINITY };
  const { flavors, executors } = roomIn(grants, members, allotment);
  return { flavors, executors: executors + members.filter(isLiving).length + underwayIn(allotment) };
};

/** Marks executors that were just handed out as those of these flavors. */
const onFlavors = (allocated: Allocation, flavors: string): Allocation => {
  const { allotment, ids } = allocated;
  const newest = allotment.underway.at(-1);
  if (flavors === "" || ids.length === 0 || newest === undefined) return allocated;
  return {
    ...allocated,
    allotment: { ...allotment, underway: [...allotment.underway.slice(0, -1), { ...newest, flavors }] },
  };
};

export const allocation = (situation: Situation, unsure: number): Allocation => {
  const { context, driver, pod, members, allotment, expected } = situation;
  const { view, policies, read, settings } = context;
  const { sparkConf = {}, sparkVersion = "" } = read.ok ? read.spec : {};
  const pace = paceOf(policies, sparkConf, rulesFor(sparkVersion));
  const promptUntil = view.slow === true ? undefined : view.now + settings.prompt.settledMs;
  const granted = Math.min(expected, grantedAt([allotment.grant], view.now));
  const later = unsure + (situation.handover?.held ?? 0);
  const { flavors, executors } = roomOf(situation);
  if (flavors !== "" && situation.placement?.flavors !== flavors) return noneOf(situation);
  const most = Math.min(granted, executors);
  const need = { expected: most, members, allotment, unsure: later, pace: pace, now: view.now, promptUntil };
  if (shortage(need) <= mostPrompt) return onFlavors(allocate(need), flavors);
  const batch = Math.min(pace.batch, mostAtOnce(context, driver, pod));
  return onFlavors(allocate({ ...need, pace: { ...pace, batch } }), flavors);
};

/**
 * The time at which creations of an earlier step count as never arrived, epoch ms: no event reports that. For creations
 * of this step the pods' own events do, or the trouble that the step meets.
 */
const overdueAt = ({ context: { settings }, allotment: { underway } }: Situation): number | undefined =>
  underway.length === 0 ? undefined : Math.min(...underway.map((round) => settlesAt(round, settings.settledMs)));

/** While each further executor would need a new claim and none may be created, claims are read again after this, ms. */
const claimsAgainMs = 30_000;

const maker = ({ context }: Situation): string => `executors of attempt ${context.memory.attempt}`;

/** Records an event under one name in every step of a run: the API server keeps the first. */
export const onceForTheRun = (situation: Situation, reason: string, message: string): Effect => ({
  do: "record",
  about: situation.context.object,
  resource: situation.context.kind.resource,
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

const moreOverhead = ({ context }: Situation, mebibytes: number): Effect => ({
  do: "record",
  about: context.object,
  resource: context.kind.resource,
  occasion: `executors of attempt ${context.memory.attempt} with ${mebibytes} MiB`,
  type: "Warning",
  reason: "ExecutorOverheadRaised",
  message: `an executor was OOMKilled, so executors created from here on have a memory overhead of ${mebibytes} MiB, as the annotation rekindle.dev/executor-oom-overhead allows`,
});

/** The allotment after a step that read claims; `marks` are those of the claims that its creations were handed. */
const handedOver = (allotment: Allotment, handover: Handover | undefined, marks: string): Allotment => {
  if (handover === undefined) return allotment;
  const { awaited: _, underway, ...rest } = allotment;
  const newest = underway.at(-1);
  return {
    ...rest,
    underway:
      marks === "" || newest === undefined ? underway : [...underway.slice(0, -1), { ...newest, claims: marks }],
    ...(handover.awaited === undefined ? {} : { awaited: handover.awaited }),
  };
};

/** The wait of a step that holds creations back, until their claims are free. */
const heldWait = ({ context: { view }, handover }: Situation): Partial<AllocationResult> => {
  if (handover === undefined || handover.held + handover.heldOfQuit === 0) return {};
  const { until: at = 0 } = handover.awaited ?? {};
  return {
    wakeAt: at > view.now ? at : view.now + claimsAgainMs,
    waitsFor: until("pods of ended executors", "deleted", "their claims are handed on"),
  };
};

/** Events of a step's creations, beside the first of them: no later step records them. And of ids that are used up. */
const toldOf = (
  situation: Situation,
  { ids, allotment: { singleTask, overhead }, waitsFor, exhausted }: Allocation,
): readonly Effect[] => [
  ...(exhausted === true && waitsFor !== undefined ? [maximumReached(situation, waitsFor)] : []),
  ...(ids.length > 0 && singleTask === true ? [singleTasks(situation)] : []),
  ...(ids.length > 0 && overhead !== undefined ? [moreOverhead(situation, overhead.mebibytes)] : []),
];

export const planned = (
  situation: Situation,
  allocated: Allocation,
  more: Partial<AllocationResult> = {},
): AllocationResult => {
  const { context, driver, pod, handover } = situation;
  const { ids, allotment, wakeAt, waitsFor } = allocated;
  const { stages = [], ...extras } = more;
  const before = { ...context, memory: { ...context.memory, allotment } };
  const builder = ids.length === 0 ? undefined : builderFor(before, driver, pod);
  const own = ids[0] === undefined ? [] : (builder?.build(`${ids[0]}`).claims ?? []);
  const handed = own.length === 0 ? [] : handOn(handover?.free ?? [], own, ids.length);
  const memory = { ...context.memory, allotment: handedOver(allotment, handover, marksOf(handed)) };
  const { flavors = "" } = allotment.underway.at(-1) ?? {};
  const placement = flavors === "" ? undefined : situation.placement;
  const made =
    builder === undefined ? [] : executorsFor(context, { ...situation, placement }, builder, { ids, handed });
  const events = toldOf(situation, allocated);
  const [first = [], ...others] = [...made, ...stages];
  const isPrompt = ids.length > 0 && allotment.underway.at(-1)?.until !== undefined;
  const wait = heldWait(situation);
  return {
    ...(isPrompt ? { createWithinMs: context.settings.prompt.fenceMs } : {}),
    ...wait,
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...extras,
    memory,
    stages: events.length === 0 ? [...made, ...stages] : [[...events, ...first], ...others],
    ...soonest(wakeAt, wait.wakeAt, overdueAt(situation)),
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
    resource: context.kind.resource,
    occasion: `${maker(situation)} ${first.message}`,
  };
  const message = `an executor was refused: ${first.message}`.slice(0, 1_024);
  const count = Math.max(allotment.crashes?.count ?? 0, crashesBefore(expected)) + refused.length;
  const { read, settings, view } = context;
  const handsOn = read.ok && claimPolicyOf(read.spec.sparkConf ?? {}) !== undefined;
  const claimsFrom = handsOn ? { claimsFrom: view.now + settings.settledMs } : {};
  const held = { ...allotment, ...claimsFrom, underway: [], crashes: { count, at: context.view.now } };
  const event: Effect = { do: "record", ...about, type: "Warning", reason: "ExecutorRefused", message };
  return planned(situation, allocation({ ...situation, allotment: held }, 0), { stages: [[event]] });
};

/**
 * True when executors run one task at a time. Spark turns its recovery mode on when the text of a loss says OOM, which
 * the text of a SIGKILL does as well; here only lack of memory counts. A conf that is set decides by itself.
 */
export const isShortOfMemory = (
  { read, memory }: ApplicationContext,
  { attempt, singleTask }: Allotment,
  members: readonly Member[],
): boolean => {
  if (!read.ok || read.spec.sparkConf?.[recoveryMode] !== undefined) return false;
  if (!rulesFor(read.spec.sparkVersion).executors.resizable) return false;
  const lost = memory.executors?.attempt === attempt ? (memory.executors.lost?.memory ?? 0) : 0;
  return singleTask === true || lost > 0 || members.some(({ pod }) => endingOf(pod)?.reason === "memory");
};
