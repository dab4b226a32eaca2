/**
 * The hold against starvation: the oldest group that has lacked only room for ten minutes holds the nodes of the plan that it
 * would have if what runs there ended. Other groups are not planned onto these nodes, so that smaller ones cannot pass it
 * for ever. One group holds nodes at a time.
 */

import type { Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import { instantOf } from "../../core/time.ts";
import type { Fit } from "./fit.ts";
import { isWaiting } from "./phase.ts";
import { type Room, takenByPods } from "./room.ts";

/** Annotation of a waiting group: since when it has lacked nothing but room. */
export const lacksRoomKey = "rekindle.dev/lacks-room-since";

/** The time that a group waits for room before it holds nodes, ms. */
export const patienceMs = 600_000;

export type Hold = { readonly uid: string; readonly nodes: ReadonlySet<string>; readonly saying: string };

const sinceOf = ({ metadata }: Stored): number | undefined => instantOf(metadata.annotations?.[lacksRoomKey]);

/** True for a pod that its controller would make again: it never gives its room back. */
const stays = ({ metadata }: Stored): boolean =>
  (metadata.ownerReferences ?? []).some(
    ({ controller, kind }) => controller === true && (kind === "DaemonSet" || kind === "Node"),
  );

/** Groups that are looked at: some may not fit the nodes any more. */
const mostTried = 10;

type Given = {
  readonly groups: readonly Stored[];
  readonly pods: readonly Stored[];
  readonly empty: readonly Room[];
  /** Plans a group; undefined where that is not possible, or takes too long. */
  readonly plan: (group: Stored, rooms: readonly Room[]) => Fit | undefined;
  readonly now: number;
};

const age = ({ metadata }: Stored): number => instantOf(metadata.creationTimestamp) ?? 0;

/** Returns the group that holds nodes in this round; undefined if none has waited for so long. */
export const heldFor = ({ groups, pods, empty, plan, now }: Given): Hold | undefined => {
  const patient = groups.filter((group) => isWaiting(group) && now - (sinceOf(group) ?? now) >= patienceMs);
  const oldest = patient.sort((a, b) => age(a) - age(b) || (a.metadata.uid < b.metadata.uid ? -1 : 1));
  const rooms = oldest.length === 0 ? [] : takenByPods(empty, pods.filter(stays));
  for (const group of oldest.slice(0, mostTried)) {
    const fit = plan(group, rooms);
    if (fit?.fits !== true) continue;
    const nodes = new Set(fit.places.map(({ node }) => node));
    const { namespace = "", name, uid } = group.metadata;
    const held = `${counted(nodes.size, "node")} ${nodes.size === 1 ? "is" : "are"} held for group ${namespace}/${name}`;
    return { uid, nodes, saying: `${held}, which has waited for room for ${patienceMs / 60_000} minutes` };
  }
  return undefined;
};
