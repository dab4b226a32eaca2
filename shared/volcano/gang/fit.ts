/**
 * Plans the pods of a group onto the room of nodes, all or none. The room of a node is what it can allocate, less the
 * needs of its unfinished pods. Pure: the same rooms and parts always have the same plan. A plan never exceeds a
 * room. A group that has a place may be missed only if it is large; see `exact`.
 *
 * Against starvation, the oldest group that has lacked only room for ten minutes holds the nodes of the plan that it
 * would have if what runs there ended: other groups are not planned onto these nodes, so that smaller ones cannot pass
 * it for ever. One group holds nodes at a time.
 */
import type { Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import { instantOf } from "../../core/time.ts";
import { isWaiting, lacksRoomKey, type Place } from "../../kube/gang-plan.ts";
import { type NodeFilter, nodeFilter } from "../../kube/nodes.ts";
import { areApart, type Neighbour, neighbourOf } from "../../kube/pod-anti-affinity.ts";
import type { Amounts } from "../../kube/pod-usage.ts";
import { type Quantity, quantityText } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";
import type { Labels } from "../../kube/selector.ts";
import { isPort, needsOf } from "./needs.ts";
import { isApart, placesIn, type Room, roomAfter, takenByPods } from "./rooms.ts";

/**
 * The work of a round, in looks at a node for a pod of usual size. Whoever plans stops when it is too much: it depends
 * on texts of tenants, and a round decides for all of them.
 */
export type RoundWork = { looks: number };

/**
 * The distance that pods may have in the network. `hard`: they have places inside one HyperNode of at most this tier, or of
 * the tier with this name, or none; `soft`: they are as near to each other as the room allows.
 */
export type Limit = {
  readonly mode: "hard" | "soft";
  readonly tier?: number;
  readonly tierName?: string;
};

/** The pods of a task come in partitions of this size, each within the limit. */
export type Partition = { readonly size: number; readonly limit: Limit };

/** Equal pods of a group: those of one task. */
export type Part = {
  readonly task: string;
  /** The spec of the pods. */
  readonly spec: Json;
  readonly needs: Amounts;
  /** Pods that must have a place before the group starts. */
  readonly least: number;
  /** All pods of the task, including those beyond the minimum. */
  readonly replicas: number;
  readonly accepts: NodeFilter;
  readonly neighbour: Neighbour;
  /** True if no two of the pods may be on one node. */
  readonly isAlone: boolean;
  /** The partitions of the task, if they have a network topology. */
  readonly partition?: Partition;
  /** The work of one look at a node. */
  readonly weight: number;
  readonly work: RoundWork;
};

/** Characters of constraints, and resources of a request, that take as long as a look without them. */
const charactersPerLook = 64;
const resourcesPerLook = 8;

const weightOf = ({ nodeSelector, affinity, tolerations }: Json, { size }: Amounts): number =>
  1 + (JSON.stringify([nodeSelector, affinity, tolerations]).length / charactersPerLook + size / resourcesPerLook);

type Setting = {
  readonly partition?: Partition | undefined;
  readonly work?: RoundWork;
  readonly namespace?: string;
  /** The labels that all of the pods have. */
  readonly labels?: Labels;
};

/** Makes a part from the spec of its pods. */
export const partOf = (
  task: string,
  spec: Json,
  least: number,
  replicas: number,
  { work = { looks: 0 }, namespace = "", labels = {}, partition }: Setting = {},
): Part => {
  const needs = needsOf(spec);
  const neighbour = neighbourOf({ namespace, labels, spec });
  return {
    ...{ task, spec, least, replicas, needs, work, neighbour, ...(partition && { partition }) },
    ...{ accepts: nodeFilter(spec), weight: weightOf(spec, needs), isAlone: areApart(neighbour, neighbour) },
  };
};

export type Fit =
  | {
      readonly fits: true;
      readonly places: readonly Place[];
      readonly left: readonly Room[];
      /** Where pods without a place of the plan may be: see nearness-text.ts. */
      readonly keeps?: readonly KeptHyperNode[];
    }
  | {
      readonly fits: false;
      readonly why: string;
      /** False if there may be a plan that was not found. */
      readonly certain: boolean;
    };

/**
 * A HyperNode that a group keeps to: as a whole, or with one of its partitions. `near`: the nodes that its plan chose;
 * `within`: all that its limit allows; absent: all of the cluster.
 */
export type KeptHyperNode = {
  /** "" for the whole group; of a partition as in the plan. */
  readonly key: string;
  readonly near: ReadonlySet<string>;
  readonly within?: ReadonlySet<string>;
};

export type Plan = Extract<Fit, { fits: true }>;

/** Rooms of a list that are copied in the time of a look. */
const copiesPerLook = 100;

const placed = (rooms: readonly Room[], at: number, part: Part, count: number): Plan => {
  const room = rooms[at];
  const { task, work } = part;
  if (room === undefined || count === 0) return { fits: true, places: [], left: rooms };
  work.looks += rooms.length / copiesPerLook;
  const left = rooms.with(at, roomAfter(room, part, count));
  return { fits: true, places: [{ task, node: room.node.metadata.name, count }], left };
};

const joined = (one: Plan, other: Plan): Plan => ({ ...other, places: [...one.places, ...other.places] });

/** Pods that anti-affinity compares in the time of a look. */
const pairsPerLook = 8;

const excludes = (room: Room, { accepts, weight, work, neighbour: { terms } }: Part): string | undefined => {
  work.looks += weight + (terms.length * room.pods.length + room.guarded.length) / pairsPerLook;
  return accepts(room.node);
};

export const spaceOn = (room: Room, part: Part, most: number): number =>
  excludes(room, part) === undefined ? placesIn(room, part, most) : 0;

/** Places up to `count` pods of a part, on the nodes with the fewest places first, which keeps large rooms whole. */
export const fill = (rooms: readonly Room[], part: Part, count: number): Plan => {
  if (count <= 0) return { fits: true, places: [], left: rooms };
  const spaces = rooms
    .map((room, at) => ({ at, space: spaceOn(room, part, part.replicas) }))
    .filter(({ space }) => space > 0)
    .sort((a, b) => a.space - b.space);
  const [left, places]: [Room[], Place[]] = [[...rooms], []];
  let missing = count;
  for (const { at, space } of spaces) {
    const room = rooms[at];
    if (missing === 0 || room === undefined) break;
    const many = Math.min(space, missing);
    left[at] = roomAfter(room, part, many);
    places.push({ task: part.task, node: room.node.metadata.name, count: many });
    missing -= many;
  }
  return { fits: true, places, left };
};

export const podsIn = ({ places }: Pick<Plan, "places">): number => places.reduce((sum, { count }) => sum + count, 0);

/** Fills one part after the other; undefined if one of them lacks places. */
const greedy = (rooms: readonly Room[], parts: readonly Part[]): Plan | undefined => {
  const places: Place[] = [];
  let left = rooms;
  for (const part of parts) {
    const next = fill(left, part, part.least);
    if (podsIn(next) < part.least) return undefined;
    for (const place of next.places) places.push(place);
    left = next.left;
  }
  return { fits: true, places, left };
};

/** Groups up to these sizes are searched exactly, within a number of choices that keeps a round short. */
const mostPods = 64;
const mostParts = 4;
const mostChoices = 2_000;

type Search = {
  readonly parts: readonly Part[];
  choices: number;
  readonly failed: Set<string>;
};

/** Yields numbers of pods of each part for one node, the largest first. */
function* choices(room: Room, parts: readonly Part[], missing: readonly number[]): Generator<readonly number[]> {
  const [part, ...others] = parts;
  const [most = 0, ...rest] = missing;
  if (part === undefined) {
    yield [];
    return;
  }
  for (let count = spaceOn(room, part, most); count >= 0; count--)
    for (const more of choices(roomAfter(room, part, count), others, rest)) yield [count, ...more];
}

const placedAll = (rooms: readonly Room[], at: number, parts: readonly Part[], chosen: readonly number[]): Plan =>
  parts.reduce<Plan>((plan, part, index) => joined(plan, placed(plan.left, at, part, chosen[index] ?? 0)), {
    ...{ fits: true, places: [], left: rooms },
  });

/**
 * Searches node by node, and remembers what was missing at a node in vain. A choice to which a missing pod could be
 * added is passed: any plan with it is also a plan with that pod moved here.
 */
const search = (rooms: readonly Room[], missing: readonly number[], at: number, state: Search): Plan | undefined => {
  if (missing.every((count) => count === 0)) return { fits: true, places: [], left: rooms };
  const room = rooms[at];
  const id = `${at} ${missing.join()}`;
  if (room === undefined || state.failed.has(id)) return undefined;
  for (const chosen of choices(room, state.parts, missing)) {
    state.choices -= 1;
    if (state.choices < 0) return undefined;
    const here = placedAll(rooms, at, state.parts, chosen);
    const less = missing.map((count, index) => count - (chosen[index] ?? 0));
    const [left = room] = here.left.slice(at);
    if (state.parts.some((part, index) => (less[index] ?? 0) > 0 && spaceOn(left, part, 1) > 0)) continue;
    const rest = search(here.left, less, at + 1, state);
    if (rest !== undefined) return joined(here, rest);
  }
  if (state.choices >= 0) state.failed.add(id);
  return undefined;
};

/** Looks for any plan of a small group; its failure is certain if choices are left. */
const exact = (
  rooms: readonly Room[],
  parts: readonly Part[],
  most: number,
): { plan: Plan | undefined; certain: boolean } => {
  const total = parts.reduce((sum, { least }) => sum + least, 0);
  if (total > mostPods || parts.length > most) return { plan: undefined, certain: false };
  const useful = rooms.filter((room) => parts.some((part) => spaceOn(room, part, 1) > 0));
  const state: Search = { parts, choices: mostChoices, failed: new Set() };
  const least = parts.map((part) => part.least);
  const plan = search(useful, least, 0, state);
  if (plan === undefined) return { plan, certain: state.choices >= 0 };
  const left = new Map(plan.left.map((room) => [room.node.metadata.uid, room]));
  return { plan: { ...plan, left: rooms.map((room) => left.get(room.node.metadata.uid) ?? room) }, certain: true };
};

/** Messages name this many resources and reasons at most. */
const mostNamed = 4;

const needText = ([name, amount]: readonly [string, Quantity]): string => {
  const short = name.slice(0, 63);
  return isPort(name) ? short : `${quantityText(amount)} ${short}`;
};

export const shapeText = ({ least, needs }: Part): string => {
  const named = [...needs].filter(([name, { nano }]) => name !== "pods" && nano > 0n).slice(0, mostNamed);
  if (named.length === 0) return counted(least, "pod");
  const amounts = named.map(needText).join(", ");
  return `${least} × ${amounts}`;
};

const demandText = (parts: readonly Part[], part: Part): string =>
  parts.length === 1 ? `needs ${shapeText(part)}` : `task ${part.task} needs ${shapeText(part)}`;

const reasonText = (count: number, reason: string): string =>
  `${counted(count, "node")} ${count === 1 ? reason : reason.replace(/^has /, "have ").replace(/^is /, "are ")}`;

/** A node's reason with a taint's key is at most this long. */
const longestReason = 100;

/** The reason of a node that anti-affinity excludes. */
const beside = "has a pod that anti-affinity excludes";

const reasonsOf = (rooms: readonly Room[], part: Part): readonly string[] => {
  const counts = new Map<string, number>();
  for (const room of rooms) {
    const reason = (excludes(room, part) ?? (isApart(room, part) ? beside : undefined))?.slice(0, longestReason);
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, mostNamed)
    .map(([reason, count]) => reasonText(count, reason));
};

const lackText = (rooms: readonly Room[], parts: readonly Part[], part: Part): string => {
  const spaces = rooms.map((room) => spaceOn(room, part, part.least)).filter((space) => space > 0);
  const places = counted(
    spaces.reduce((sum, space) => sum + space, 0),
    "place",
  );
  const where = spaces.length === 0 ? places : `${places} on ${spaces.length}`;
  const all = counted(rooms.length, "node");
  return [
    demandText(parts, part),
    `${where} ${spaces.length === 0 ? "on" : "of"} ${all}`,
    ...reasonsOf(rooms, part),
  ].join("; ");
};

const hasPlaces = (rooms: readonly Room[], part: Part): boolean => {
  let places = 0;
  for (const room of rooms) {
    places += spaceOn(room, part, part.least);
    if (places >= part.least) return true;
  }
  return false;
};

const togetherText = (parts: readonly Part[]): string => {
  const shapes = parts.slice(0, mostNamed).map(shapeText).join(" and ");
  return `needs ${shapes}; each of them fits alone, but not all together`;
};

const amountOf = ({ needs }: Part): bigint => needs.get("cpu")?.nano ?? 0n;

const scarcest = (rooms: readonly Room[], parts: readonly Part[]): readonly Part[] => {
  const spare = new Map(
    parts.map(
      (part) => [part, rooms.reduce((sum, room) => sum + spaceOn(room, part, part.least), -part.least)] as const,
    ),
  );
  return [...parts].sort((a, b) => (spare.get(a) ?? 0) - (spare.get(b) ?? 0));
};

/** Plans the minimum of a group: every part with its `least` pods, or nothing. `most`: parts that are searched exactly. */
export const fitOf = (rooms: readonly Room[], all: readonly Part[], most = mostParts): Fit => {
  const parts = all.filter(({ least }) => least > 0);
  const lacking = parts.find((part) => !hasPlaces(rooms, part));
  if (lacking !== undefined) return { fits: false, why: lackText(rooms, parts, lacking), certain: true };
  const largest = [...parts].sort((a, b) => (amountOf(b) > amountOf(a) ? 1 : -1));
  const quick = greedy(rooms, scarcest(rooms, parts)) ?? greedy(rooms, largest);
  if (quick !== undefined) return quick;
  const { plan, certain } = exact(rooms, parts, most);
  return plan ?? { fits: false, why: togetherText(parts), certain };
};

/** The time that a group waits for room before it holds nodes, ms. */
export const patienceMs = 600_000;

export type NodeHold = { readonly uid: string; readonly nodes: ReadonlySet<string>; readonly saying: string };

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
export const heldFor = ({ groups, pods, empty, plan, now }: Given): NodeHold | undefined => {
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
