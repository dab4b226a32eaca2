/**
 * The room of the nodes during an admission round with `gang: builtin`: admitted groups without all their pods hold
 * theirs, and each group that enters takes its own.
 */
import type { Stored } from "../../core/object.ts";
import { isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import type { Priorities } from "../podgroup/group.ts";
import { keys } from "../schema/resource.ts";
import { type Demand, demandOf } from "./demand.ts";
import { type Fit, fill, fitOf, type Part } from "./fit.ts";
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

/**
 * Groups of a namespace that were found without room in one round; the namespace's later groups wait for the next one,
 * so that its groups do not lengthen the round for others.
 */
const mostTried = 50;

/** Identical demands have an identical answer. */
const demandKey = (parts: readonly Part[]): string =>
  JSON.stringify(
    parts.map(({ task, requests, least, spec: { nodeSelector, affinity, tolerations, nodeName } }) => [
      ...[task, least, nodeSelector, affinity, tolerations, nodeName],
      ...[...requests].map(([name, { nano }]) => `${name} ${nano}`),
    ]),
  );

/** The obstacles of groups in a round, each asked once, in the order of the groups. */
export type OpenGround = {
  /** Returns why the group must wait; undefined if it may enter, which takes its room. */
  readonly obstacle: (group: Stored) => string | undefined;
};

/** Opens the ground of one round. */
export const openGround = ({ nodes, pods, jobs, priorities, starting }: Ground): OpenGround => {
  const empty = emptyRooms(nodes);
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const bound = boundOf(pods);
  const needs = (group: Stored): Demand => demandOf(group, byUid, priorities);
  const held = starting.map((group) => ({ group, demand: needs(group) }));
  const taken = (rooms: readonly Room[], wanted: (part: Part, there: number) => number): readonly Room[] =>
    held.reduce((left, { group: { metadata }, demand }) => {
      if (demand.is !== "planned") return left;
      const there = ({ task }: Part): number => bound.get(placeKey(metadata.namespace ?? "", metadata.name, task)) ?? 0;
      return filled(left, demand.parts, (part) => wanted(part, there(part)));
    }, rooms);
  // Minima first: the other pods of a group must not take the places of another group's minimum.
  const minima = taken(takenByPods(empty, pods), ({ least }, there) => least - there);
  let rooms = taken(minima, ({ least, replicas }, there) => replicas - Math.max(least, there));
  const refused = new Map<string, string>();
  const tried = new Map<string, number>();
  const refusal = (parts: readonly Part[], { why }: Extract<Fit, { fits: false }>): string => {
    const whole = fitOf(empty, parts);
    return whole.fits || !whole.certain ? why : `would not fit the empty cluster: ${whole.why}`;
  };
  const planned = (parts: readonly Part[], namespace: string): string | undefined => {
    const key = demandKey(parts);
    const before = refused.get(key);
    if (before !== undefined) return before;
    const tries = tried.get(namespace) ?? 0;
    if (tries >= mostTried) return `${mostTried} groups of its namespace come before it and have no room`;
    const fit = fitOf(rooms, parts);
    if (!fit.fits) {
      const why = refusal(parts, fit);
      refused.set(key, why);
      tried.set(namespace, tries + 1);
      return why;
    }
    // Nothing holds back the pods beyond the minimum, so they count as placed, too.
    rooms = filled(fit.left, parts, ({ replicas, least }) => replicas - least);
    return undefined;
  };
  return {
    obstacle: (group) => {
      const demand = needs(group);
      if (demand.is === "refused") return demand.why;
      return demand.is === "unplanned" ? undefined : planned(demand.parts, group.metadata.namespace ?? "");
    },
  };
};
