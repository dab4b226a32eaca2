/**
 * One admission round. It runs under the key of the root queue, so that no two rounds decide at the same time. A round
 * saves the groups that it is about to admit before it admits them. The next round reads whether each write has
 * arrived. Until then, or until none of them can arrive any more, it plans nothing, so that no two rounds give one
 * place away.
 */

import { all, get, list, type Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, Looking, Next, View } from "../../core/plan.ts";
import { counted } from "../../core/text.ts";
import { until } from "../../core/waiting-on.ts";
import { bindMs, isWaiting } from "../../kube/gang-plan.ts";
import { isEnding } from "../../kube/pods.ts";
import { priorityClasses } from "../../kube/resources.ts";
import type { QueueMemory } from "../queue/state/memory.ts";
import { rootName, specOf } from "../queue/state/tree.ts";
import { keys, podGroups, queues as queueKind } from "../schema/resource.ts";
import { type Admission, type AdmissionInput, admissionOf, type Verdict } from "./admission.ts";
import {
  beyondEvents,
  mostAtOnce,
  patchOf,
  type RoundWrites,
  roundWrites,
  type StandingPlan,
  standingIn,
  takeBack,
} from "./admission-writes.ts";
import { type Cluster, clusterFor, type Planning, readUsage } from "./cluster-reads.ts";
import type { Evicting } from "./eviction-port.ts";
import { foreignEvents, readForeignGroups, toBeRetold } from "./foreign-groups.ts";
import { openGround, type RoundPlanner } from "./ground.ts";
import { statedIn } from "./ledger.ts";
import { type Move, readMoves } from "./namespace-queue.ts";
import { type ProbeTurn, probeTurn } from "./native-probe.ts";
import { groupOutline, jobOwnerOf, statedMembers } from "./outlines.ts";
import { plannableAt } from "./plan.ts";
import { type Detecting, find, isSchedulers, readLeases, type SchedulerFinding } from "./scheduler.ts";
import type { NativeProbe, Nomination } from "./state/memory.ts";
import { waitingEvents } from "./waiting-events.ts";

export type { Evicting };

type InFlight = NonNullable<QueueMemory["planning"]>;

/** The longest time from a save to the arrival of its writes, ms: the fence, the request timeout, a second of rounding. */
const latestMs = 16_000;

/** Returns until when a write may still arrive, epoch ms; undefined if each has arrived or cannot. */
export const unsettledUntil = (
  planning: InFlight | undefined,
  groups: readonly Stored[],
  now: number,
): number | undefined => {
  if (planning === undefined || now >= planning.at + latestMs) return undefined;
  const isOpen = groups.some(({ metadata }) => planning.groups[metadata.uid] === metadata.resourceVersion);
  return isOpen ? planning.at + latestMs : undefined;
};

/** Returns what a round remembers of the groups that it admits or gives room to; undefined if there is none. */
export const inFlightOf = (groups: readonly Stored[], now: number): InFlight | undefined =>
  groups.length === 0
    ? undefined
    : {
        at: now,
        groups: Object.fromEntries(groups.map(({ metadata: { uid, resourceVersion } }) => [uid, resourceVersion])),
      };

/** Every group of every namespace, with what it needs of the resources that these queues state. */
export const groupsOf = (all: readonly Stored[]): Looking => {
  const resources = statedIn(all);
  return {
    ...{ do: "list", resource: podGroups, namespace: "", labels: {}, spared: true },
    projecting: () => groupOutline(resources),
  };
};

const classOf = (group: Stored): string => {
  const { priorityClassName } = specOf(group);
  return typeof priorityClassName === "string" ? priorityClassName : "";
};

const classesOf = (groups: readonly Stored[]): readonly string[] => [
  ...new Set(groups.filter(isWaiting).map(classOf).filter(Boolean)),
];

function* readPriorities(names: readonly string[]): Reads<ReadonlyMap<string, number>> {
  const classes = yield* all(names.map((name) => get({ do: "get", ref: { resource: priorityClasses, name } })));
  return new Map(
    names.flatMap((name, index): readonly [string, number][] => {
      const value = classes[index]?.["value"];
      return typeof value === "number" ? [[name, value]] : [];
    }),
  );
}

export type AdmissionRound = {
  /** Every group, as the round read them. */
  readonly groups: readonly Stored[];
  readonly found: SchedulerFinding;
  readonly effects: readonly Effect[];
  /** Events about groups that wait, recorded before the reasons are written: a death in between loses none. */
  readonly events?: readonly Effect[];
  /** Evictions and what is said about them, in stages after the effects. */
  readonly stages?: readonly (readonly Effect[])[];
  /** The groups that the effects admit by plans, or give room of bounded queues to; saved before them. */
  readonly planning?: InFlight;
  /** The finding about PodGroups of Kubernetes; saved before the effects of a probe. */
  readonly native?: NativeProbe;
  /** The groups that get the room of evicted pods; saved before the evictions. */
  readonly nominations?: readonly Nomination[];
  readonly next: Extract<Next, { do: "rest" | "wait" | "again" }>;
};

/** While groups wait, the step looks again: no watch shows that a scheduler has stopped. */
const pollMs = 30_000;

/** A scheduler that runs and admits nothing is to be reported soon. */
const doubtMs = 10_000;

const nextOf = (
  { admits, saying, silent, doubtful }: SchedulerFinding,
  left: number,
  wakeAt?: number,
): AdmissionRound["next"] => {
  if (admits === "scheduler" && left > 0)
    return {
      do: "wait",
      pollMs: doubtful === true ? doubtMs : pollMs,
      waitsFor: until(counted(left, "group"), "admitted", silent ?? saying),
    };
  const wake = wakeAt === undefined ? {} : { wakeAt };
  if (left > 0) return { do: "wait", pollMs, waitsFor: { on: "room", groups: left }, ...wake };
  return wakeAt === undefined ? { do: "rest" } : { do: "wait", waitsFor: until("admitted groups", "started"), ...wake };
};

/** While pods of groups are ending and others wait, the step looks again this often, ms: no watch shows that they have ended. */
const endingPollMs = 5_000;

const whileEnding = (next: AdmissionRound["next"], pods: readonly Stored[]): AdmissionRound["next"] => {
  const frees = pods.some((pod) => isEnding(pod) && pod.metadata.annotations?.[keys.group] !== undefined);
  return frees && next.do === "wait" && next.pollMs !== undefined
    ? { ...next, pollMs: Math.min(next.pollMs, endingPollMs) }
    : next;
};

/** The time after which a round looks again at a plan whose group states its members, ms: no step but its own ends it. */
const lookMs = 10_000;

const earliest = (instants: readonly (number | undefined)[], now: number): number | undefined => {
  const coming = instants.filter((at) => at !== undefined).filter((at) => at > now);
  return coming.length === 0 ? undefined : Math.min(...coming);
};

/** Plans that are due within this time of each other are looked at in one round, ms: each look reads all pods. */
const togetherMs = 5_000;

/** Returns when the plans that are due next are looked at, epoch ms. */
const dueNext = (standing: readonly StandingPlan[], now: number): number | undefined => {
  const dues = standing.flatMap(({ dueAt }) => dueAt ?? []);
  const first = earliest(dues, now);
  return first === undefined ? undefined : Math.max(...dues.filter((at) => at < first + togetherMs));
};

const entering = (verdicts: readonly Verdict[]): readonly Stored[] =>
  verdicts.flatMap(({ group, enters }) => (enters ? [group] : []));

type Seen = Pick<View<QueueMemory>, "now" | "memory">;

/** While pods are evicted, the step looks again this often, ms: no watch shows that they have ended. */
const evictionPollMs = 5_000;

type Turn = Omit<AdmissionRound, "groups" | "found">;

/** Adds the evictions of a round to it. */
function* withEvictions(
  { evicting, hall, cluster, ground, memory, now }: Planned,
  verdicts: readonly Verdict[],
  { admitted, ...turn }: Turn & { readonly admitted: readonly Stored[] },
): Reads<Turn> {
  if (evicting === undefined) return turn;
  const { queues, groups } = hall;
  const { nominations, stages, isMore } = yield* evicting.round({
    ...{ queues, groups, jobs: cluster.jobs, ground, verdicts, now },
    ...{ entering: new Set(admitted.map(({ metadata }) => metadata.uid)), nominations: memory?.nominations ?? [] },
  });
  if (nominations.length === 0 && stages.length === 0) return turn;
  const { next } = turn;
  const pollMs = next.do === "rest" ? evictionPollMs : Math.min(next.pollMs ?? evictionPollMs, evictionPollMs);
  return {
    ...turn,
    ...{ stages, nominations },
    next: isMore || next.do === "again" ? { ...next, do: "again" } : { ...next, do: "wait", pollMs },
  };
}

/** While reasons of large groups are to be written, the step goes on after this time, ms: each write of one holds the API server up for all. */
const largePollMs = 5_000;

/** Returns what follows a round that has left writes for the next one. */
const afterWrites = (next: AdmissionRound["next"], left: RoundWrites["left"]): AdmissionRound["next"] => {
  if (left === "nothing") return next;
  if (left === "writes" || next.do !== "wait") return { ...next, do: "again" };
  return { ...next, pollMs: Math.min(next.pollMs ?? largePollMs, largePollMs) };
};

type Planned = Seen & {
  readonly evicting: Evicting | undefined;
  readonly hall: AdmissionInput;
  readonly cluster: Cluster;
  readonly ground: RoundPlanner;
};

/** Returns the groups that wait after a round, or of which pods wait. */
const leftIn = ({ verdicts, growths }: Admission): number =>
  verdicts.filter(({ enters }) => !enters).length + growths.filter(({ short }) => short !== undefined).length;

/** Decides without a look at nodes. What is given is remembered where queues are bounded, so that it is given once. */
const roomRound = (
  hall: AdmissionInput,
  found: SchedulerFinding,
  now: number,
  wakeAt?: number,
): Omit<AdmissionRound, "groups"> => {
  const admission = admissionOf(hall);
  const { effects, given, left } = roundWrites(admission, hall.queues, now);
  const next = nextOf(found, leftIn(admission), wakeAt);
  const planning = hall.usage === undefined ? undefined : inFlightOf(given, now);
  return {
    ...{ found, effects, next: afterWrites(next, left) },
    ...(planning === undefined ? {} : { planning }),
  };
};

/** Returns a round that decides nothing while writes of an earlier one may still arrive; undefined if none may. */
const pausedBy = (
  { groups }: AdmissionInput,
  found: SchedulerFinding,
  { now, memory }: Seen,
): Omit<AdmissionRound, "groups"> | undefined => {
  const settlesAt = unsettledUntil(memory?.planning, groups, now);
  if (settlesAt === undefined) return undefined;
  const next = nextOf(found, groups.filter(isWaiting).length, settlesAt);
  return { found, effects: [], next, ...(memory?.planning && { planning: memory.planning }) };
};

/** Decides a round in which groups enter by plans; with `native` only those that PodGroups of Kubernetes cannot place. */
function* plannedRound(
  hall: AdmissionInput,
  found: SchedulerFinding,
  { now, memory }: Seen,
  { evicting, native = false }: Planning,
): Reads<AdmissionRound> {
  const { groups } = hall;
  const waits = groups.filter(isWaiting);
  const nominations = evicting === undefined ? [] : (memory?.nominations ?? []);
  const pause = pausedBy(hall, found, { now, memory });
  if (pause !== undefined) return { groups, ...pause, ...(nominations.length === 0 ? {} : { nominations }) };
  const cluster = yield* clusterFor(hall, now, { evicting, native, isGiving: nominations.length > 0 });
  const usage = yield* readUsage(hall, evicting);
  const standing = standingIn(groups, cluster);
  const retries = waits.map(plannableAt);
  const follows = standing.some(({ members }) => members !== undefined) ? now + lookMs : undefined;
  const wakes = [dueNext(standing, now), ...retries, follows];
  if (cluster === undefined) return { groups, ...roomRound({ ...hall, usage }, found, now, earliest(wakes, now)) };
  const back = yield* takeBack(standing, cluster, now);
  const open = evicting?.openIn(nominations, groups, now) ?? [];
  const ground = openGround({ ...cluster, ...{ groups, now, priorities: hall.priorities, nominations: open, native } });
  const admission = admissionOf({ ...hall, ground, usage, nominated: new Set(open.map(({ uid }) => uid)) });
  const { verdicts } = admission;
  const most = Math.max(0, mostAtOnce - back.length);
  const { effects, ...first } = roundWrites(admission, hall.queues, now, most);
  const admitted = entering(first.verdicts);
  const planning = inFlightOf(first.given, now);
  const wakeAt = earliest(
    [...wakes, ...admitted.map((group) => now + (statedMembers(group) === undefined ? bindMs : lookMs))],
    now,
  );
  const next = whileEnding(nextOf(found, leftIn(admission), wakeAt), cluster.pods);
  // A round that admits groups and has no time for others goes on at once; one that admits none would go on for ever.
  const isShort = ground.wasShort() && admitted.length > 0;
  const turn = yield* withEvictions({ evicting, hall, cluster, ground, memory, now }, verdicts, {
    admitted,
    effects: [...back, ...effects, ...beyondEvents(first.verdicts)],
    events: waitingEvents(first.verdicts, verdicts, now),
    next: isShort ? { ...next, do: "again" } : afterWrites(next, first.left),
  });
  return { groups, found, ...turn, ...(planning === undefined ? {} : { planning }) };
}

const sooner = (next: AdmissionRound["next"], at: number | undefined): AdmissionRound["next"] => {
  if (at === undefined || next.do === "again") return next;
  const wakeAt = next.do === "wait" && next.wakeAt !== undefined ? Math.min(next.wakeAt, at) : at;
  return { waitsFor: until("the probe of the cluster's gangs", "ended"), ...next, do: "wait", wakeAt };
};

/** An event about whether PodGroups of Kubernetes are used, when that is first known or has changed. */
const newsOf = (
  queues: readonly Stored[],
  before: NativeProbe | undefined,
  { verdict, why = "" }: ProbeTurn,
): readonly Effect[] => {
  const root = queues.find(({ metadata }) => metadata.name === rootName);
  if (root === undefined || verdict === "open" || before?.is === verdict) return [];
  const message =
    verdict === "on"
      ? "the cluster places gangs: groups get PodGroups of Kubernetes, and plans where these cannot say what they ask for"
      : `groups get plans of Rekindle, as with \`gang: builtin\`: ${why}`;
  const occasion = `native ${verdict} ${root.metadata.resourceVersion}`;
  const type = verdict === "on" ? "Normal" : "Warning";
  return [{ do: "record", about: root, resource: queueKind, occasion, type, reason: "GangNative", message }];
};

/** Decides a round with `gang: native`. While it is not known whether the cluster places gangs, groups of Jobs wait. */
function* nativeRound(hall: AdmissionInput, found: SchedulerFinding, seen: Seen): Reads<AdmissionRound> {
  const { now, memory } = seen;
  const { native: before } = memory ?? {};
  if (unsettledUntil(memory?.planning, hall.groups, now) !== undefined)
    return { ...(yield* plannedRound(hall, found, seen, {})), ...(before === undefined ? {} : { native: before }) };
  const isOfJob = (group: Stored): boolean => isWaiting(group) && jobOwnerOf(group) !== undefined;
  const probe = yield* probeTurn(before, hall.groups.filter(isOfJob), now);
  const isOpen = probe.verdict === "open";
  const groups = isOpen ? hall.groups.filter((group) => !isOfJob(group)) : hall.groups;
  const turn = yield* plannedRound({ ...hall, groups }, found, seen, { native: probe.verdict === "on" });
  return {
    ...turn,
    stages: [...(turn.stages ?? []), ...probe.stages, newsOf(hall.queues, before, probe)],
    next: sooner(turn.next, probe.looksAt),
    ...(probe.native === undefined ? {} : { native: probe.native }),
  };
}

/** Decides a round in which groups enter by the room of their queues alone. */
function* unplannedRound(
  hall: AdmissionInput,
  found: SchedulerFinding,
  seen: Seen,
): Reads<Omit<AdmissionRound, "groups">> {
  const pause = pausedBy(hall, found, seen);
  if (pause !== undefined) return pause;
  return roomRound({ ...hall, usage: yield* readUsage(hall) }, found, seen.now);
}

/** Moves a new group to the queue of its namespace. */
const moving = ({ group, queue }: Move): Effect => patchOf(group, { spec: { queue } });

/** Decides one round: the component that admits groups, and the groups to admit if that is Rekindle. */
export function* admissionRound(
  { mode, namespaces, evicting }: Detecting & { readonly evicting?: Evicting | undefined },
  queues: readonly Stored[],
  seen: Seen,
): Reads<AdmissionRound> {
  const { now, memory } = seen;
  const [leases, groups] = yield* all([readLeases({ mode, namespaces }), list(groupsOf(queues))]);
  const found = yield* find({ mode, namespaces }, { now, memory, leases, queues, groups });
  const waits = groups.filter(isWaiting).length;
  if (found.admits === "scheduler") return { groups, found, effects: [], next: nextOf(found, waits) };
  const priorities = yield* readPriorities(classesOf(groups));
  const ours = groups.filter((group) => !(isWaiting(group) && isSchedulers(group, now)));
  const { moves, unread } = yield* readMoves(ours);
  const left = new Set([...unread, ...moves.map(({ group }) => group.metadata.uid)]);
  const staying = ours.filter(({ metadata }) => !left.has(metadata.uid));
  const foreign = yield* readForeignGroups(staying, now);
  const reasons = new Map(foreign.map(({ group, why }) => [group.metadata.uid, why]));
  const hall: AdmissionInput = { queues, groups: toBeRetold(staying, foreign), priorities, foreign: reasons };
  const turn = yield* turnOf(mode, hall, found, { seen, evicting });
  return {
    ...{ ...turn, groups, events: [...(turn.events ?? []), ...foreignEvents(foreign)] },
    ...(left.size === 0
      ? {}
      : { effects: [...moves.map(moving), ...turn.effects], next: { ...turn.next, do: "again" } }),
  };
}

type Parts = { readonly seen: Seen; readonly evicting?: Evicting | undefined };

/** Decides a round of groups that Rekindle admits. */
function* turnOf(
  mode: Detecting["mode"],
  hall: AdmissionInput,
  found: SchedulerFinding,
  { seen, evicting }: Parts,
): Reads<Omit<AdmissionRound, "groups">> {
  if (mode === "native") return yield* nativeRound(hall, found, seen);
  if (mode === "builtin") return yield* plannedRound(hall, found, seen, { evicting });
  return yield* unplannedRound(hall, found, seen);
}
