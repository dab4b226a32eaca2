/**
 * Carries out saved nominations. A nominated group gets the room of the pods that are evicted for it. First the groups that
 * give room are marked; only pods of a marked group are evicted, so that each step of their job knows why they end. While
 * the nominated group waits, its places are reserved; when it has started, or after ten minutes, the nomination ends.
 */
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { counted } from "../../../core/text.ts";
import { timeText } from "../../../core/time.ts";
import { type Evicted, evictedKey, evictedOf, evictedText, isMarkOver } from "../../../kube/gang-eviction.ts";
import { isWaiting, phaseOf, placer, planKey, planOf, scheduledByKey } from "../../../kube/gang-plan.ts";
import { isEnding, isOver, podStatus } from "../../../kube/pods.ts";
import { pods as podResource } from "../../../kube/resources.ts";
import { podGroups } from "../../schema/resource.ts";
import { otherConditions, patchOf } from "../admission-writes.ts";
import { statedMembers } from "../outlines.ts";
import type { Nomination } from "../state/memory.ts";
import { ordinalOf, taskOf } from "./victims.ts";

/** The longest time of a nomination, ms. */
const mostMs = 600_000;

type Seen = {
  readonly groups: readonly Stored[];
  /** The unfinished pods of a group. */
  readonly podsOf: (group: Stored) => readonly Stored[];
  readonly now: number;
};

/** `open`: the group waits for the room. `starts`: its pods are getting their places. `over`: it needs the room no more. */
type State = "open" | "starts" | "over";

const stateOf = ({ uid, at }: Nomination, { groups, now }: Seen): State => {
  const group = groups.find(({ metadata }) => metadata.uid === uid);
  if (group === undefined || isEnding(group) || now >= at + mostMs) return "over";
  if (isWaiting(group)) return "open";
  return planOf(group) === undefined ? "over" : "starts";
};

/** Returns the nominations whose groups still wait for their room. */
export const openIn = (
  nominations: readonly Nomination[],
  groups: readonly Stored[],
  now: number,
): readonly Nomination[] => nominations.filter((one) => stateOf(one, { groups, now, podsOf: () => [] }) === "open");

type Victim = Nomination["victims"][string];

type Losing = { readonly nomination: Nomination; readonly group: Stored; readonly victim: Victim };

const losingIn = (nomination: Nomination, { groups }: Seen): readonly Losing[] =>
  Object.entries(nomination.victims).flatMap(([uid, victim]) => {
    const group = groups.find(({ metadata }) => metadata.uid === uid);
    return group === undefined || isEnding(group) ? [] : [{ nomination, group, victim }];
  });

const markFor = ({ nomination: { group: by }, victim }: Losing, pods: readonly Stored[], now: number): Evicted => {
  if (victim.whole) return { at: now, by };
  const own = pods.filter(({ metadata }) => victim.pods[metadata.uid] !== undefined);
  const byTask = Map.groupBy(own, taskOf);
  return { at: now, by, pods: Object.fromEntries([...byTask].map(([task, its]) => [task, its.map(ordinalOf)])) };
};

const conditionFor = (group: Stored, by: string, now: number) => ({
  ...{ type: "Unschedulable", status: "True", reason: "Evicted", message: `its pods are evicted for group ${by}` },
  ...{ transitionID: group.metadata.resourceVersion, lastTransitionTime: timeText(now) },
});

const word = (about: Stored, { uid, at }: Nomination, reason: string, message: string): Effect => ({
  ...{ do: "record", about, resource: podGroups, occasion: `${reason} ${uid} ${at}` },
  ...{ type: "Normal", reason, message },
});

const whyOf = {
  preempt: "its priority is higher, in the same queue",
  reclaim: "its queue has less than it deserves, and theirs has more",
} as const;

/** The Events about a group that gives room, and about the group that gets it. */
const wordsOf = ({ group, victim, nomination }: Losing, { groups }: Seen): readonly Effect[] => {
  const names = Object.values(victim.pods);
  const what = victim.whole ? "all pods of the group" : `pods beyond its minimum (${names.slice(0, 5).join(", ")})`;
  const why = whyOf[nomination.way];
  const claimant = groups.find(({ metadata }) => metadata.uid === nomination.uid);
  const victims = Object.values(nomination.victims);
  const count = victims.reduce((sum, { pods }) => sum + Object.keys(pods).length, 0);
  const message = `${counted(count, "pod")} of ${counted(victims.length, "group")} are evicted to make room: ${why}`;
  return [
    word(group, nomination, "Evicted", `${what} are evicted for group ${nomination.group}: ${why}`),
    ...(claimant === undefined ? [] : [word(claimant, nomination, "RoomByEviction", message)]),
  ];
};

/** Marks a group that gives room. One that gives all of it waits for its admission again. */
const marking = (losing: Losing, { podsOf, now }: Seen): readonly Effect[] => {
  const { group, victim, nomination } = losing;
  if (!["Running", "Unknown"].includes(phaseOf(group)) || planOf(group) !== undefined) return [];
  const mark = evictedText(markFor(losing, podsOf(group), now));
  if (!victim.whole) return [patchOf(group, { metadata: { annotations: { [evictedKey]: mark } } })];
  const conditions = [...otherConditions(group), conditionFor(group, nomination.group, now)];
  return [
    patchOf(group, {
      metadata: { annotations: { [evictedKey]: mark, [scheduledByKey]: null, [planKey]: null } },
      status: { phase: "Pending", conditions },
    }),
  ];
};

/** Returns the mark of a group, if this nomination has set it. */
const markOf = ({ group, victim, nomination }: Losing): Evicted | undefined => {
  const mark = evictedOf(group);
  return mark?.by === nomination.group && (mark.pods === undefined) === victim.whole ? mark : undefined;
};

/** True for a marked group that has lost all of its places, and was not admitted since. */
const isOut = (losing: Losing): boolean =>
  losing.victim.whole && isWaiting(losing.group) && markOf(losing) !== undefined;

/** The pods of a marked group that are still to be evicted. */
const remaining = (losing: Losing, { podsOf }: Seen): readonly Stored[] =>
  podsOf(losing.group).filter(
    (pod) =>
      !isOver(podStatus(pod)) &&
      !isEnding(pod) &&
      (isOut(losing) || losing.victim.pods[pod.metadata.uid] !== undefined),
  );

const eviction = ({ metadata: { namespace = "", name, uid } }: Stored): Effect => ({
  do: "evict",
  ref: { resource: podResource, namespace, name },
  uid,
});

/** Evicts pods that create others after those that they create: a driver goes with its executors, and never before them. */
const inStages = (losing: Losing, pods: readonly Stored[]): readonly (readonly Effect[])[] => {
  const { members = [] } = statedMembers(losing.group) ?? {};
  const leaders = new Set(members.map(({ after }) => after));
  const isLeader = (pod: Stored): boolean => leaders.has(taskOf(pod));
  return [pods.filter((pod) => !isLeader(pod)).map(eviction), pods.filter(isLeader).map(eviction)];
};

export type NominationWrites = {
  /** The nominations that are still to be remembered. */
  readonly kept: readonly Nomination[];
  /** Events about groups that are marked; recorded before the marks, so that a death in between loses none. */
  readonly events: readonly Effect[];
  readonly marks: readonly Effect[];
  /** In stages, the second after the first. */
  readonly evictions: readonly (readonly Effect[])[];
};

/** Gives a group its places back if none of its pods has been evicted. */
const restoring = (losing: Losing, { podsOf }: Seen): Effect | undefined => {
  const { group, victim } = losing;
  const alive = new Set(
    podsOf(group)
      .filter((pod) => !isEnding(pod))
      .map(({ metadata }) => metadata.uid),
  );
  if (!isOut(losing) || !Object.keys(victim.pods).every((uid) => alive.has(uid))) return undefined;
  return patchOf(group, {
    metadata: { annotations: { [evictedKey]: null, [scheduledByKey]: placer } },
    status: { phase: "Running", conditions: otherConditions(group) },
  });
};

const noEvictions: readonly (readonly Effect[])[] = [];

/** Ends a nomination: pods beyond minima may come again, and a group that has lost pods loses all of them. */
const ended = (nomination: Nomination, seen: Seen): NominationWrites => {
  const losing = losingIn(nomination, seen);
  const singles = losing.flatMap((one): readonly Effect[] => {
    const mark = one.victim.whole ? undefined : markOf(one);
    if (mark === undefined || isMarkOver(mark, seen.now)) return [];
    return [patchOf(one.group, { metadata: { annotations: { [evictedKey]: evictedText({ ...mark, over: true }) } } })];
  });
  const wholes = losing.filter((one) => isOut(one) && seen.podsOf(one.group).length > 0);
  const back = wholes.map((one) => restoring(one, seen));
  const out = wholes.filter((_, at) => back[at] === undefined);
  return {
    kept: singles.length + wholes.length > 0 ? [nomination] : [],
    events: [],
    marks: [...singles, ...back.filter((one) => one !== undefined)],
    evictions: staged(out.map((one) => inStages(one, remaining(one, seen)))),
  };
};

const staged = (all: readonly (readonly (readonly Effect[])[])[]): readonly (readonly Effect[])[] =>
  [0, 1].map((at) => all.flatMap((stages) => stages[at] ?? []));

/** True for two Events about one group: each nomination has one about each of its groups. */
const isSameWord = (one: Effect, other: Effect): boolean =>
  one.do === "record" && other.do === "record" && one.about.metadata.uid === other.about.metadata.uid;

const opened = (nomination: Nomination, seen: Seen): NominationWrites => {
  const losing = losingIn(nomination, seen);
  const marked = losing.filter((one) => markOf(one) !== undefined);
  const fresh = losing
    .filter((one) => !marked.includes(one))
    .map((one) => ({ one, marks: marking(one, seen) }))
    .filter(({ marks }) => marks.length > 0);
  const events = fresh.flatMap(({ one }) => wordsOf(one, seen));
  return {
    kept: [nomination],
    events: events.filter((one, at) => events.findIndex((other) => isSameWord(one, other)) === at),
    marks: fresh.flatMap(({ marks }) => marks),
    evictions: staged(marked.map((one) => inStages(one, remaining(one, seen)))),
  };
};

const carriedOut: Readonly<Record<State, (nomination: Nomination, seen: Seen) => NominationWrites>> = {
  open: opened,
  starts: (nomination) => ({ kept: [nomination], events: [], marks: [], evictions: noEvictions }),
  over: ended,
};

/** Returns what saved nominations ask for; `entering`: UIDs of groups that enter in this round, whose pods need no more room. */
export const carryOut = (
  nominations: readonly Nomination[],
  entering: ReadonlySet<string>,
  seen: Seen,
): NominationWrites => {
  const all = nominations.map((one) => {
    const state = stateOf(one, seen);
    return carriedOut[state === "open" && entering.has(one.uid) ? "starts" : state](one, seen);
  });
  return {
    kept: all.flatMap(({ kept }) => kept),
    events: all.flatMap(({ events }) => events),
    marks: all.flatMap(({ marks }) => marks),
    evictions: staged(all.map(({ evictions }) => evictions)),
  };
};
