/**
 * The room of the nodes during an admission round with `gang: builtin`: admitted groups without all their pods hold
 * theirs, and each group that enters takes its own.
 */
import { counted } from "../../core/counted.ts";
import type { Stored } from "../../core/object.ts";
import { isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import type { Priorities } from "../podgroup/group.ts";
import { keys } from "../schema/resource.ts";
import { demandOf } from "./demand.ts";
import { type Fit, fill, fitOf, type Part, type Work } from "./fit.ts";
import { emptyRooms, type Room, takenByPods } from "./room.ts";

export type Ground = {
  readonly nodes: readonly Stored[];
  /** All unfinished pods of the cluster. */
  readonly pods: readonly Stored[];
  readonly jobs: readonly Stored[];
  readonly priorities: Priorities;
  /** Groups that were admitted and do not run yet. */
  readonly starting: readonly Stored[];
};

/** Takes as many places of each part as there are, up to the numbers wanted. */
const filled = (rooms: readonly Room[], parts: readonly Part[], wanted: (part: Part) => number): readonly Room[] =>
  parts.reduce((left, part) => fill(left, part, Math.max(0, wanted(part))).left, rooms);

const placeKey = (namespace: string, group: string, task: string): string => `${namespace} ${group} ${task}`;

/** Returns the pods that have a node, by their task of their group: `takenByPods` has counted them. */
const boundOf = (pods: readonly Stored[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const { namespace = "", annotations = {} } = pod.metadata;
    const { [keys.group]: group, [keys.taskSpec]: task } = annotations;
    if (group === undefined || task === undefined || nodeNameOf(pod) === undefined || isOver(podStatus(pod))) continue;
    const key = placeKey(namespace, group, task);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
};

/** The most looks of one round: some hundred ms, well within the time of a decision. */
const mostLooks = 600_000;
/** The most looks of one pass over all nodes and all tasks of one group. A plan takes up to ten. */
const mostLooksOfPass = 60_000;

const passOf = (parts: readonly Part[], nodes: number): number =>
  parts.reduce((sum, { weight }) => sum + weight, 0) * nodes;

/** Identical demands have an identical answer. */
const demandKey = (parts: readonly Part[]): string =>
  JSON.stringify(
    parts.map(({ task, requests, least, spec: { nodeSelector, affinity, tolerations, nodeName } }) => [
      ...[task, least, nodeSelector, affinity, tolerations, nodeName],
      ...[...requests].map(([name, { nano }]) => `${name} ${nano}`),
    ]),
  );

/** The account of a round's work. */
export type Turns = {
  readonly work: Work;
  /**
   * True if a group of the namespace may be looked at: the namespace has caused at most half as much work as is left.
   * However much work the groups of some namespaces cause, those of another are looked at in the same round.
   */
  readonly mayLook: (namespace: string) => boolean;
  /** Runs work for a group of the namespace, and charges it for it. */
  readonly charged: <T>(namespace: string, run: () => T) => T;
};

export const openTurns = (most = mostLooks): Turns => {
  const work: Work = { looks: 0 };
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

const later = "the groups of its namespace that come before it take as much time as a round has for one namespace";

const tooLarge = (nodes: number): string =>
  `its tasks and their constraints take too long to plan on ${counted(nodes, "node")}: write fewer tasks, or shorter affinities, selectors and tolerations`;

/** The obstacles of groups in a round, each asked once, in the order of the groups. */
export type OpenGround = {
  /** Returns why the group must wait; undefined if it may enter, which takes its room. */
  readonly obstacle: (group: Stored) => string | undefined;
  /** True if a group waits only because the round had no time for it. */
  readonly wasShort: () => boolean;
};

/** Opens the ground of one round. */
export const openGround = (
  { nodes, pods, jobs, priorities, starting }: Ground,
  { work, mayLook, charged }: Turns = openTurns(),
): OpenGround => {
  const empty = emptyRooms(nodes);
  const known = { byUid: new Map(jobs.map((job) => [job.metadata.uid, job])), priorities, work };
  const bound = boundOf(pods);
  const isPlannable = (parts: readonly Part[]): boolean => passOf(parts, nodes.length) <= mostLooksOfPass;
  let rooms = takenByPods(empty, pods);
  const held: { readonly group: Stored; readonly parts: readonly Part[] }[] = [];
  const there = ({ metadata: { namespace = "", name } }: Stored, { task }: Part): number =>
    bound.get(placeKey(namespace, name, task)) ?? 0;
  /** Takes room for admitted groups. A namespace that has too many of them holds no room for the others. */
  const hold = (group: Stored, run: () => void): void => {
    const { namespace = "" } = group.metadata;
    if (mayLook(namespace)) charged(namespace, run);
  };
  // Minima first: the other pods of a group must not take the places of another group's minimum.
  for (const group of starting)
    hold(group, () => {
      const demand = demandOf(group, known);
      if (demand.is !== "planned" || !isPlannable(demand.parts)) return;
      held.push({ group, parts: demand.parts });
      rooms = filled(rooms, demand.parts, (part) => part.least - there(group, part));
    });
  for (const { group, parts } of held)
    hold(group, () => {
      rooms = filled(rooms, parts, (part) => part.replicas - Math.max(part.least, there(group, part)));
    });
  const refused = new Map<string, string>();
  let short = false;
  const refusal = (parts: readonly Part[], { why }: Extract<Fit, { fits: false }>): string => {
    const whole = fitOf(empty, parts);
    return whole.fits || !whole.certain ? why : `would not fit the empty cluster: ${whole.why}`;
  };
  const planned = (parts: readonly Part[]): string | undefined => {
    if (!isPlannable(parts)) return tooLarge(nodes.length);
    const key = demandKey(parts);
    const before = refused.get(key);
    if (before !== undefined) return before;
    const fit = fitOf(rooms, parts);
    if (!fit.fits) {
      const why = refusal(parts, fit);
      refused.set(key, why);
      return why;
    }
    // Nothing holds back the pods beyond the minimum, so they count as placed, too.
    rooms = filled(fit.left, parts, ({ replicas, least }) => replicas - least);
    return undefined;
  };
  return {
    obstacle: (group) => {
      const { namespace = "" } = group.metadata;
      if (!mayLook(namespace)) {
        short = true;
        return later;
      }
      return charged(namespace, () => {
        const demand = demandOf(group, known);
        if (demand.is === "refused") return demand.why;
        return demand.is === "unplanned" ? undefined : planned(demand.parts);
      });
    },
    wasShort: () => short,
  };
};
