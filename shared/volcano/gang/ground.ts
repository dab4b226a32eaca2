/**
 * The room of the nodes during an admission round with `gang: builtin`, made anew in each round: what the nodes can
 * allocate, less their pods, less the places of plans that no pod has yet. Each group that enters takes its own. The
 * work of a round is shared out to namespaces, because tenants write what a round reads.
 */

import type { Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import { timeText } from "../../core/time.ts";
import { evictedOf } from "../../kube/gang-eviction.ts";
import {
  type GangPlan,
  mostPlanBytes,
  nodesOf,
  type Place,
  phaseOf,
  planOf,
  planText,
  takenBackOf,
} from "../../kube/gang-plan.ts";
import type { PodDefaults } from "../../kube/pod-defaults.ts";
import { isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import type { Priorities } from "../podgroup/group.ts";
import { type Fit, fill, heldFor, type NodeHold, type Part, type Plan, type RoundWork } from "./fit.ts";
import { byGroup, keyOf, ofTask } from "./group-pods.ts";
import { byPlan, nativeWay } from "./native-way.ts";
import { fitNear, nodesLookedAt, type TopologyRequest } from "./nearness.ts";
import { topologyText } from "./nearness-text.ts";
import { demandOf } from "./outlines.ts";
import { hasOldPods, plannableAt } from "./plan.ts";
import { openReserve, type Reserve, reservationsOf } from "./reserve.ts";
import { closed, emptyRooms, placeOf, type Room, takenByPods } from "./rooms.ts";
import type { Nomination } from "./state/memory.ts";
import { domainsOf } from "./topology/domains.ts";

/** The most looks of one round: some hundred ms, well within the time of a decision. */
const mostLooks = 600_000;

type Shares = {
  readonly work: RoundWork;
  /**
   * True if a group of the namespace may be looked at: the namespace has caused at most half as much work as is left.
   * However much work the groups of some namespaces cause, those of another are looked at in the same round.
   */
  readonly mayLook: (namespace: string) => boolean;
  /** Runs work for a group of the namespace, and charges it for it. */
  readonly charged: <T>(namespace: string, run: () => T) => T;
};

export const openShares = (most = mostLooks): Shares => {
  const work: RoundWork = { looks: 0 };
  const caused = new Map<string, number>();
  return {
    work,
    mayLook: (namespace) => (caused.get(namespace) ?? 0) <= (most - work.looks) / 2,
    charged: (namespace, run) => {
      const before = work.looks;
      const result = run();
      caused.set(namespace, (caused.get(namespace) ?? 0) + work.looks - before);
      return result;
    },
  };
};

export type ClusterNodes = {
  readonly nodes: readonly Stored[];
  /** All unfinished pods of the cluster. */
  readonly pods: readonly Stored[];
  readonly jobs: readonly Stored[];
  readonly priorities: Priorities;
  /** Every group of the cluster. */
  readonly groups: readonly Stored[];
  /** Epoch ms. */
  readonly now: number;
  /** Groups that get the room of evicted pods; absent: none. */
  readonly nominations?: readonly Nomination[];
  /** The HyperNodes of the cluster; absent: no group asks for them. */
  readonly hyperNodes?: readonly Stored[];
  /** What the API server adds to pods; absent: nothing. */
  readonly defaults?: PodDefaults | undefined;
  /** Groups that PodGroups of Kubernetes can place need no plan; absent: each needs one. */
  readonly native?: boolean;
};

/** The reason why a group waits. */
export type Obstacle = {
  readonly why: string;
  /** The empty cluster has places for it. */
  readonly lacksRoom?: true;
  /** Its status says so already, in other words. */
  readonly isReported?: true;
};

/**
 * A plan for a group that may enter, or the reason why it must wait. `native`: a PodGroup of Kubernetes places its pods;
 * `beyond`: what such a PodGroup cannot say of it.
 */
export type Answer =
  | {
      readonly enters: true;
      readonly places: readonly Place[];
      /** The nodes that its other pods keep to: see nearness-text.ts. */
      readonly topology?: string;
      readonly native?: true;
      readonly beyond?: string;
    }
  | ({ readonly enters: false } & Obstacle);

/** Takes as many places of each part as there are, up to the numbers wanted. */
const filled = (rooms: readonly Room[], parts: readonly Part[], wanted: (part: Part) => number): readonly Room[] =>
  parts.reduce((left, part) => fill(left, part, Math.max(0, wanted(part))).left, rooms);

/** Takes the places of a plan that no pod of the group has yet; those of its pods are taken with the pods. */
const withPlan = (
  rooms: readonly Room[],
  { places }: GangPlan,
  parts: readonly Part[],
  pods: readonly Stored[],
): readonly Room[] =>
  parts.reduce((before, part) => {
    const have = Map.groupBy(ofTask(pods, part.task).map(placeOf), (node) => node);
    const wanted = Map.groupBy(nodesOf({ places }, part.task), (node) => node);
    return before.map((room) => {
      const { name } = room.node.metadata;
      const open = (wanted.get(name)?.length ?? 0) - (have.get(name)?.length ?? 0);
      return open > 0
        ? (fill([room], { ...part, accepts: () => undefined, isAlone: false }, open).left[0] ?? room)
        : room;
    });
  }, rooms);

/** A group that was admitted without a plan, or has lost pods since it was whole. */
const startsUnplanned = (group: Stored): boolean =>
  planOf(group) === undefined && ["Inqueue", "Unknown"].includes(phaseOf(group));

/** The most looks of one pass over all nodes and all tasks of one group. A plan takes up to ten. */
const mostLooksOfPass = 60_000;

const passOf = (parts: readonly Part[], nodes: number): number =>
  parts.reduce((sum, { weight }) => sum + weight, 0) * nodes;

const later = "the groups of its namespace that come before it take as much time as a round has for one namespace";

const tooLarge = (nodes: number): string =>
  `its tasks and their constraints take too long to plan on ${counted(nodes, "node")}: write fewer tasks, or shorter affinities, selectors and tolerations`;

/** The needs of a group, and its plan on rooms. */
export type Need = TopologyRequest & { readonly fit: (rooms: readonly Room[]) => Fit };

type KeyOptions = { readonly closedNodes: readonly string[]; readonly isHeld: boolean; readonly isGuarded: boolean };

/** Identical demands have an identical answer. Labels count only where anti-affinity goes by them. */
const demandKey = ({ parts, limit }: TopologyRequest, { closedNodes, isHeld, isGuarded }: KeyOptions): string =>
  JSON.stringify([
    closedNodes,
    isHeld,
    limit,
    isGuarded || parts.some(({ neighbour }) => neighbour.terms.length > 0)
      ? parts.map(({ neighbour: { namespace, labels } }) => [namespace, labels])
      : [],
    parts.map(({ task, needs, least, partition, spec: { nodeSelector, affinity, tolerations, nodeName } }) => [
      ...[task, least, partition, nodeSelector, affinity, tolerations, nodeName],
      ...[...needs].map(([name, { nano }]) => `${name} ${nano}`),
    ]),
  ]);

/** Plans with some nodes closed; what is left of these stays as it is. */
const fitWithout = (rooms: readonly Room[], need: Need, names: ReadonlySet<string>): Fit => {
  if (names.size === 0) return need.fit(rooms);
  const fit = need.fit(withoutNodes(rooms, names));
  if (!fit.fits) return fit;
  return {
    ...fit,
    left: fit.left.map((room, at) => (names.has(room.node.metadata.name) ? (rooms[at] ?? room) : room)),
  };
};

/** The answers for the groups of a round, each given once, in the order of the groups. */
export type RoundPlanner = {
  /** Returns the plan of a group, which takes its room, or the reason why it must wait. */
  readonly ask: (group: Stored) => Answer;
  /** True if a group waits only because the round had no time for it. */
  readonly wasShort: () => boolean;
  /** Runs work for a group with what it needs and the room that is left for it; undefined if the round has no time. */
  readonly look: <T>(group: Stored, run: (left: RoomLeft) => T) => T | undefined;
  /** The unfinished pods of a group. */
  readonly podsOf: (group: Stored) => readonly Stored[];
};

/** The room that is left for a group. */
export type RoomLeft = Need & { readonly rooms: readonly Room[]; readonly work: RoundWork };

type Asking = {
  /** Returns what a group needs, if that can be planned. */
  readonly needOf: (group: Stored) => Need | undefined;
  readonly podsOf: (group: Stored) => readonly Stored[];
  readonly shares: Shares;
};

/**
 * Takes what admitted groups hold beside their pods: the open places of plans, then places for pods without a node. A
 * namespace that has too many of them holds no room for the others.
 */
const roomsLeft = (free: readonly Room[], groups: readonly Stored[], asking: Asking): readonly Room[] => {
  const { needOf, podsOf, shares } = asking;
  const bound = (group: Stored, { task }: Part): number =>
    ofTask(podsOf(group), task).filter((pod) => nodeNameOf(pod) !== undefined && !isOver(podStatus(pod))).length;
  const held = groups
    .map((group) => ({ group, plan: planOf(group) }))
    .filter(({ group, plan }) => plan !== undefined || startsUnplanned(group))
    .sort((a, b) => Number(a.plan === undefined) - Number(b.plan === undefined));
  let rooms = free;
  for (const { group, plan } of held) {
    const { namespace = "" } = group.metadata;
    if (!shares.mayLook(namespace)) continue;
    shares.charged(namespace, () => {
      const parts = needOf(group)?.parts ?? [];
      rooms =
        plan === undefined
          ? filled(rooms, parts, (part) => part.least - bound(group, part))
          : withPlan(rooms, plan, parts, podsOf(group));
    });
  }
  return rooms;
};

const none: ReadonlySet<string> = new Set();

type Opened = Asking & {
  readonly reserve: Reserve;
  readonly empty: readonly Room[];
  readonly hold: NodeHold | undefined;
  readonly now: number;
};

type Planner = {
  readonly plan: (group: Stored, need: Need) => Answer;
  /** The rooms that a group may use: without the nodes that are held for another. */
  readonly usable: (group: Stored) => readonly Room[];
};

const withoutNodes = (rooms: readonly Room[], names: ReadonlySet<string>): readonly Room[] =>
  names.size === 0 ? rooms : rooms.map((room) => (names.has(room.node.metadata.name) ? closed(room) : room));

/** Plans one group after the other, each in the room that those before it have left. */
const openPlanner = ({ empty, hold, now, reserve }: Opened): Planner => {
  const refused = new Map<string, Obstacle>();

  const refusal = (need: Need, { why }: Extract<Fit, { fits: false }>, isHeld: boolean): Obstacle => {
    const whole = need.fit(empty);
    if (!whole.fits && whole.certain) return { why: `would not fit the empty cluster: ${whole.why}` };
    return { why: hold === undefined || isHeld ? why : `${why}; ${hold.saying}`, lacksRoom: true };
  };

  const entered = (group: Stored, fit: Plan, parts: readonly Part[]): Answer => {
    const { places } = fit;
    const topology = topologyText(
      fit,
      empty.map(({ node }) => node),
    );
    const isTooLong = planText(places, now).length > mostPlanBytes || topology === "tooLong";
    if (isTooLong) return { enters: false, why: `its plan would be longer than ${mostPlanBytes} characters` };
    reserve.enter(group.metadata.uid, fit, parts);
    return { enters: true, places, ...(topology === undefined ? {} : { topology }) };
  };

  /** The nodes that are held for another group; a nominated group has its places already. */
  const heldFrom = ({ metadata: { uid } }: Stored): ReadonlySet<string> =>
    hold === undefined || hold.uid === uid || reserve.reservationOf(uid) !== undefined ? none : hold.nodes;

  const plan = (group: Stored, need: Need): Answer => {
    const { uid } = group.metadata;
    const isHeld = hold?.uid === uid;
    const held = heldFrom(group);
    const rooms = reserve.roomsFor(uid);
    const nomination = reserve.reservationOf(uid);
    const refusing = takenBackOf(group)?.nodes ?? [];
    const isGuarded = rooms.some(({ guarded }) => guarded.length > 0);
    const key = demandKey(need, { closedNodes: refusing, isHeld, isGuarded });
    const before = nomination === undefined ? refused.get(key) : undefined;
    if (before !== undefined) return { enters: false, ...before };
    // The nodes that refused are the last to be tried again: they may be the only ones.
    const elsewhere = refusing.length === 0 ? undefined : fitWithout(rooms, need, new Set([...held, ...refusing]));
    const fit = elsewhere?.fits === true ? elsewhere : fitWithout(rooms, need, held);
    if (fit.fits) return entered(group, fit, need.parts);
    if (nomination !== undefined) return { enters: false, why: nomination.saying, lacksRoom: true };
    const why = refusal(need, fit, isHeld);
    refused.set(key, why);
    return { enters: false, ...why };
  };
  return { plan, usable: (group) => withoutNodes(reserve.roomsFor(group.metadata.uid), heldFrom(group)) };
};

/** Returns why a group is not planned in this round, whatever room there is. */
const postponed = (group: Stored, pods: readonly Stored[], now: number): Obstacle | undefined => {
  const at = plannableAt(group);
  if (at !== undefined && at > now) return { why: `it is tried again after ${timeText(at)}`, isReported: true };
  if (!hasOldPods(group, pods)) return undefined;
  // The reason for which a group lost its places stays until there is another one.
  return { why: "its earlier pods have not ended yet", ...(at === undefined ? {} : { isReported: true }) };
};

/** Adds to the answer for a group whose pods were evicted that they were. */
const withEviction = (group: Stored, answer: Answer): Answer => {
  const mark = evictedOf(group);
  if (mark === undefined || answer.enters || answer.isReported === true) return answer;
  return { ...answer, why: `${answer.why}; its pods were evicted for group ${mark.by}` };
};

/** Adds to the answer for a group what a PodGroup of Kubernetes cannot say of it. */
const withBeyond = (answer: Answer, beyond: string | undefined): Answer => {
  if (beyond === undefined) return answer;
  return answer.enters ? { ...answer, beyond } : { ...answer, why: `${answer.why}; ${byPlan(beyond)}` };
};

/** Opens the ground of one round. */
export const openGround = (
  { nodes, pods, jobs, priorities, groups, now, nominations = [], native = false, hyperNodes, defaults }: ClusterNodes,
  shares: Shares = openShares(),
): RoundPlanner => {
  const empty = emptyRooms(nodes);
  const known = { byUid: new Map(jobs.map((job) => [job.metadata.uid, job])), priorities, work: shares.work, defaults };
  const own = byGroup(pods);
  const podsOf = (group: Stored): readonly Stored[] => own.get(keyOf(group)) ?? [];
  const domains = hyperNodes === undefined ? undefined : domainsOf(hyperNodes, nodes);
  const isPlannable = (ask: TopologyRequest): boolean =>
    passOf(ask.parts, nodesLookedAt(ask, nodes.length, domains)) <= mostLooksOfPass;
  const needFor = ({ parts, limit }: TopologyRequest): Need => ({
    ...{ parts, limit },
    fit: (rooms) => fitNear(rooms, { parts, limit }, domains),
  });
  const needOf = (group: Stored): Need | undefined => {
    const demand = demandOf(group, known);
    return demand.is === "planned" && isPlannable(demand) ? needFor(demand) : undefined;
  };
  const plan = (group: Stored, free: readonly Room[]): Fit | undefined => {
    const { namespace = "" } = group.metadata;
    if (!shares.mayLook(namespace)) return undefined;
    return shares.charged(namespace, () => needOf(group)?.fit(free));
  };
  const hold = heldFor({ groups, pods, empty, plan, now });
  const asking: Asking = { needOf, podsOf, shares };
  const rooms = roomsLeft(takenByPods(empty, pods), groups, asking);
  const reserve = openReserve(
    rooms,
    reservationsOf(nominations, groups, (group) => needOf(group)?.parts),
  );
  const planner = openPlanner({ ...asking, reserve, empty, hold, now });
  let short = false;
  const ask = (group: Stored): Answer => {
    const { namespace = "" } = group.metadata;
    const wait = postponed(group, podsOf(group), now);
    if (wait !== undefined) return { enters: false, ...wait };
    if (!shares.mayLook(namespace)) {
      short = true;
      return { enters: false, why: later, lacksRoom: true };
    }
    return shares.charged(namespace, () => {
      const way = native ? nativeWay(group, known.byUid) : undefined;
      if (way?.is === "native") return { enters: true, places: [], native: true };
      const demand = demandOf(group, known);
      if (demand.is === "refused") return { enters: false, why: demand.why };
      if (demand.is === "unplanned") return { enters: true, places: [] };
      if (!isPlannable(demand)) return { enters: false, why: tooLarge(nodes.length) };
      return withBeyond(withEviction(group, planner.plan(group, needFor(demand))), way?.why);
    });
  };
  const look: RoundPlanner["look"] = (group, run) => {
    const { namespace = "" } = group.metadata;
    if (!shares.mayLook(namespace)) return undefined;
    return shares.charged(namespace, () => {
      const need = needOf(group);
      return need === undefined ? undefined : run({ ...need, rooms: planner.usable(group), work: shares.work });
    });
  };
  return { ask, wasShort: () => short, look, podsOf };
};
