/**
 * Plans groups whose pods must be, or should be, near to each other: the whole minimum inside one HyperNode, or each
 * partition of a task inside one, or both. HyperNodes of the lowest tier are tried first, of one tier the fullest. Pure, as
 * fit.ts; a small group is missed only if no choice of HyperNodes for its partitions has a plan within a number of tries.
 */
import { type Place, partitionKey } from "../../kube/gang-plan.ts";
import {
  type Fit,
  fill,
  fitOf,
  type KeptHyperNode,
  type Limit,
  type Part,
  type Plan,
  podsIn,
  shapeText,
  spaceOn,
} from "./fit.ts";
import type { Room } from "./rooms.ts";
import type { Domain, Domains } from "./topology/domains.ts";

/** The topologies that a group asks for. */
export type TopologyRequest = {
  readonly parts: readonly Part[];
  /** For the pods of all parts together; absent: none. */
  readonly limit?: Limit | undefined;
};

const nowhere: Domains = { usable: [], faults: [] };

/** Returns the HyperNodes that a limit allows. One that is soft allows all. */
export const allowedBy = ({ mode, tier, tierName }: Limit, { usable }: Domains): readonly Domain[] => {
  if (mode === "soft") return usable;
  if (tier !== undefined) return usable.filter((domain) => domain.tier <= tier);
  const highest = Math.max(...usable.filter((domain) => domain.tierName === tierName).map((domain) => domain.tier));
  return usable.filter((domain) => domain.tier <= highest);
};

/** Returns the number of nodes that a plan of these parts looks at for one pod of each. */
export const nodesLookedAt = ({ parts, limit }: TopologyRequest, nodes: number, domains: Domains = nowhere): number => {
  const sizeOf = (one: Limit): number => allowedBy(one, domains).reduce((sum, domain) => sum + domain.nodes.size, 0);
  const limits = [limit, ...parts.map(({ partition }) => partition?.limit)].filter((one) => one !== undefined);
  return Math.max(nodes, ...limits.map(sizeOf));
};

type Rooms = ReadonlyMap<string, Room>;

const named = (rooms: readonly Room[]): Map<string, Room> =>
  new Map(rooms.map((room) => [room.node.metadata.name, room]));

const inside = ({ nodes }: Domain, rooms: Rooms): readonly Room[] =>
  rooms.size < nodes.size
    ? [...rooms.values()].filter(({ node }) => nodes.has(node.metadata.name))
    : [...nodes].flatMap((name) => rooms.get(name) ?? []);

const spacesIn = (rooms: readonly Room[], part: Part): number =>
  rooms.reduce((sum, room) => sum + spaceOn(room, part, part.replicas), 0);

const total = (parts: readonly Part[]): number => parts.reduce((sum, { least }) => sum + least, 0);

const minimal = (parts: readonly Part[]): readonly Part[] => parts.filter(({ least }) => least > 0);

/** Puts changed rooms in the places of the rooms before. */
const updated = (rooms: readonly Room[], left: readonly Room[]): readonly Room[] => {
  const changed = named(left);
  return rooms.map((room) => changed.get(room.node.metadata.name) ?? room);
};

const tierText = ({ tier, tierName = "" }: Limit): string =>
  tier === undefined ? `tier ${tierName.slice(0, 63)} or lower` : `tier ≤ ${tier}`;

/** Messages name this many faulty HyperNodes. */
const mostFaults = 2;

const withFaults = (why: string, { faults }: Domains): string => [why, ...faults.slice(0, mostFaults)].join("; ");

const noneText = ({ usable }: Domains): string =>
  usable.length === 0
    ? "the cluster has no HyperNode with nodes, or Rekindle may not list them"
    : "there is no such HyperNode";

type Tried = { readonly domain: Domain; readonly rooms: readonly Room[]; readonly spare: number; readonly has: number };

/** Counts the places of a HyperNode: the pods of the parts that it has room for, one part after the other, and all places. */
const triedIn = (rooms: Rooms, parts: readonly Part[], domain: Domain): Tried => {
  const own = inside(domain, rooms);
  let [left, has]: [readonly Room[], number] = [own, 0];
  for (const part of parts) {
    const next = fill(left, part, part.least);
    left = next.left;
    has += podsIn(next);
  }
  return { domain, rooms: own, has, spare: parts.reduce((sum, part) => sum + spacesIn(own, part), 0) };
};

const lackText = ({ parts, limit }: { parts: readonly Part[]; limit: Limit }, tried: readonly Tried[]): string => {
  const shapes = parts.map(shapeText).slice(0, 4).join(" and ");
  const needs = `needs ${shapes} inside one HyperNode of ${tierText(limit)}`;
  const [best] = tried.toSorted((a, b) => b.has - a.has);
  if (best === undefined) return needs;
  const { name } = best.domain;
  if (best.has >= total(parts)) return `${needs}; ${name} has room for each of them, but not for all together`;
  return `${needs}; the best, ${name}, has room for ${best.has}`;
};

/** The most work of one plan, in looks at a node. */
const mostLooks = 200_000;

const workIn = (parts: readonly Part[]): number => parts[0]?.work.looks ?? 0;

/** Places in a HyperNode for each partition, and in any for the other parts. */
type Piece = { readonly part: Part; readonly at: number; readonly key: string };

/** The partitions of a task, of which the last may not be whole. */
const piecesOf = (part: Part, from: number, to: number): readonly Piece[] => {
  const { size } = part.partition ?? { size: part.replicas };
  const count = Math.ceil(to / Math.max(1, size));
  return Array.from({ length: Math.max(0, count - from) }, (_, nth): Piece => {
    const at = from + nth;
    const least = Math.min(size, to - at * size);
    return { at, key: partitionKey(part.task, at), part: { ...part, least, replicas: size } };
  });
};

type Chosen = Piece & { readonly domain: Domain | undefined };

type State = { readonly rooms: Map<string, Room>; readonly places: Place[]; readonly chosen: Chosen[] };

/** Takes the places of one partition. */
const settle = (state: State, { part, at, key }: Piece, domain: Domain | undefined): boolean => {
  const own = domain === undefined ? [...state.rooms.values()] : inside(domain, state.rooms);
  const plan = fill(own, part, part.least);
  if (podsIn(plan) < part.least) return false;
  for (const room of plan.left) state.rooms.set(room.node.metadata.name, room);
  state.places.push(...plan.places.map((place) => ({ ...place, task: key })));
  state.chosen.push({ part, at, key, domain });
  return true;
};

/** Returns the HyperNodes of a task's partitions, the lowest tier first, of one tier the fullest. */
const ranked = (rooms: Rooms, part: Part, domains: readonly Domain[]) =>
  domains
    .map((domain) => ({ domain, spaces: spacesIn(inside(domain, rooms), part) }))
    .filter(({ spaces }) => spaces > 0)
    .sort((a, b) => a.domain.tier - b.domain.tier || a.spaces - b.spaces || (a.domain.name < b.domain.name ? -1 : 1));

const candidatesOf = ({ partition }: Part, domains: Domains): readonly Domain[] =>
  partition === undefined ? [] : allowedBy(partition.limit, domains);

/** Gives one partition after the other the first HyperNode that has room for it. */
const greedy = (rooms: readonly Room[], parts: readonly Part[], domains: Domains): Plan | undefined => {
  const state: State = { rooms: named(rooms), places: [], chosen: [] };
  for (const part of parts.filter(({ partition }) => partition !== undefined)) {
    const candidates = candidatesOf(part, domains);
    let order = ranked(state.rooms, part, candidates);
    for (const piece of piecesOf(part, 0, part.least)) {
      const found = order.find(({ domain, spaces }) => spaces >= piece.part.least && settle(state, piece, domain));
      if (found === undefined && !(part.partition?.limit.mode === "soft" && settle(state, piece, undefined)))
        return undefined;
      const used = new Set(state.places.filter(({ task }) => task === piece.key).map(({ node }) => node));
      order = order.map((one) =>
        [...used].some((node) => one.domain.nodes.has(node))
          ? { ...one, spaces: spacesIn(inside(one.domain, state.rooms), part) }
          : one,
      );
    }
  }
  const rest = fitOf(
    updated(rooms, [...state.rooms.values()]),
    parts.filter(({ partition }) => partition === undefined),
  );
  if (!rest.fits) return undefined;
  return { ...rest, places: [...state.places, ...rest.places], keeps: keepsOf(state.chosen, domains) };
};

/** The choices of HyperNodes for partitions that are tried, and the partitions that are tried so. */
const mostChoices = 300;
const mostPieces = 12;

type Options = { readonly piece: Piece; readonly among: readonly (Domain | undefined)[] };

/** Yields a HyperNode for each partition. Those of one task are equal, so each has one that is not before its neighbour's. */
function* choices(options: readonly Options[], from = 0, at = 0): Generator<readonly Chosen[]> {
  const option = options[at];
  if (option === undefined) {
    yield [];
    return;
  }
  const isNext = options[at - 1]?.piece.part.task === option.piece.part.task;
  for (let index = isNext ? from : 0; index < option.among.length; index++)
    for (const more of choices(options, index, at + 1))
      yield [{ ...option.piece, domain: option.among[index] }, ...more];
}

const narrowed = (part: Part, domain: Domain | undefined, count: number): Part => ({
  ...part,
  least: count,
  accepts: (node) =>
    domain === undefined || domain.nodes.has(node.metadata.name) ? part.accepts(node) : "is outside its HyperNode",
});

/** Divides the places of partitions that were planned together. */
const divided = (places: readonly Place[], chosen: readonly Chosen[]): readonly Place[] => {
  const nodes = places.flatMap(({ node, count }) => Array.from({ length: count }, () => node));
  let next = 0;
  return chosen.flatMap(({ key, part }) => {
    const own = nodes.slice(next, next + part.least);
    next += part.least;
    return [...Map.groupBy(own, (node) => node)].map(([node, { length }]) => ({ task: key, node, count: length }));
  });
};

/** Plans with a HyperNode for each partition; partitions of one task in one HyperNode are one part. */
const fitChosen = (rooms: readonly Room[], parts: readonly Part[], chosen: readonly Chosen[]): Fit => {
  const bundles = [...Map.groupBy(chosen, ({ part, domain }) => `${part.task} ${domain?.name ?? ""}`).values()];
  const narrow = bundles.flatMap((own, nth) => {
    const [first] = own;
    const count = own.reduce((sum, { part }) => sum + part.least, 0);
    return first === undefined ? [] : [{ ...narrowed(first.part, first.domain, count), task: `${nth}/` }];
  });
  const fit = fitOf(rooms, [...narrow, ...parts.filter(({ partition }) => partition === undefined)], mostPieces);
  if (!fit.fits) return fit;
  const own = bundles.flatMap((bundle, nth) =>
    divided(
      fit.places.filter(({ task }) => task === `${nth}/`),
      bundle,
    ),
  );
  return { ...fit, places: [...own, ...fit.places.filter(({ task }) => !task.endsWith("/"))] };
};

type Searched = { readonly plan: Plan | undefined; readonly certain: boolean };

/** Tries the choices of HyperNodes for the partitions of a small group. */
const searched = (rooms: readonly Room[], parts: readonly Part[], domains: Domains): Searched => {
  const pieces = parts
    .filter(({ partition }) => partition !== undefined)
    .flatMap((part) => piecesOf(part, 0, part.least));
  if (pieces.length > mostPieces) return { plan: undefined, certain: false };
  const own = named(rooms);
  const options = pieces.map((piece): Options => {
    const fitting = ranked(own, piece.part, candidatesOf(piece.part, domains)).filter(
      ({ spaces }) => spaces >= piece.part.least,
    );
    const isSoft = piece.part.partition?.limit.mode === "soft";
    return { piece, among: [...fitting.map(({ domain }) => domain), ...(isSoft ? [undefined] : [])] };
  });
  const last = workIn(parts) + mostLooks;
  let [left, certain] = [mostChoices, true];
  for (const chosen of choices(options)) {
    left -= 1;
    if (left < 0 || workIn(parts) > last) return { plan: undefined, certain: false };
    const fit = fitChosen(rooms, parts, chosen);
    if (fit.fits) return { plan: { ...fit, keeps: keepsOf(chosen, domains) }, certain: true };
    certain &&= fit.certain;
  }
  return { plan: undefined, certain };
};

/** Returns the largest HyperNode around another one that the limit allows. */
const around = (domain: Domain, limit: Limit, domains: Domains): Domain =>
  allowedBy(limit, domains)
    .filter(({ nodes, tier }) => tier >= domain.tier && [...domain.nodes].every((name) => nodes.has(name)))
    .reduce((largest, one) => (one.nodes.size >= largest.nodes.size ? one : largest), domain);

const keptIn = (key: string, domain: Domain, limit: Limit, domains: Domains): KeptHyperNode => ({
  ...{ key, near: domain.nodes },
  ...(limit.mode === "hard" ? { within: around(domain, limit, domains).nodes } : {}),
});

const keepsOf = (chosen: readonly Chosen[], domains: Domains): readonly KeptHyperNode[] =>
  chosen.flatMap(({ key, domain, part: { partition } }) =>
    domain === undefined || partition === undefined ? [] : [keptIn(key, domain, partition.limit, domains)],
  );

/** Returns the HyperNodes of partitions beyond the minimum: their pods have no places in the plan, but keep to one. */
const laterKeeps = (plan: Plan, parts: readonly Part[], domains: Domains): readonly KeptHyperNode[] => {
  const rooms = named(plan.left);
  return parts.flatMap((part) => {
    const { partition } = part;
    if (partition === undefined || part.least >= part.replicas) return [];
    const state: State = { rooms, places: [], chosen: [] };
    const order = ranked(rooms, part, candidatesOf(part, domains));
    const any = candidatesOf(part, domains).at(-1);
    return piecesOf(part, Math.ceil(part.least / Math.max(1, partition.size)), part.replicas).flatMap((piece) => {
      const found = order.find(({ domain }) => settle(state, piece, domain))?.domain ?? order.at(-1)?.domain ?? any;
      return found === undefined ? [] : [keptIn(piece.key, found, partition.limit, domains)];
    });
  });
};

const piecesText = (rooms: Rooms, part: Part, partition: NonNullable<Part["partition"]>, domains: Domains): string => {
  const count = Math.ceil(part.least / Math.max(1, partition.size));
  const shape = shapeText({ ...part, least: Math.min(part.least, partition.size) });
  const each = count === 1 ? "inside" : `, each inside`;
  const what = count === 1 ? shape : `${count} × (${shape})`;
  const needs = `task ${part.task} needs ${what}${count === 1 ? ` ${each}` : each} one HyperNode of ${tierText(partition.limit)}`;
  const allowed = allowedBy(partition.limit, domains);
  if (allowed.length === 0) return `${needs}; ${noneText(domains)}`;
  const [best] = ranked(rooms, part, allowed).toSorted((a, b) => b.spaces - a.spaces);
  const found = best === undefined ? "none has room" : `the best, ${best.domain.name}, has room for ${best.spaces}`;
  return `${needs}; ${found}`;
};

/** Plans partitions and other parts on these rooms. */
const fitParts = (rooms: readonly Room[], parts: readonly Part[], domains: Domains): Fit => {
  if (parts.every(({ partition }) => partition === undefined)) return fitOf(rooms, parts);
  const needed = minimal(parts);
  const large = needed.toSorted((a, b) => Number((b.needs.get("cpu")?.nano ?? 0n) - (a.needs.get("cpu")?.nano ?? 0n)));
  const quick = greedy(rooms, needed, domains) ?? greedy(rooms, large, domains);
  const { plan, certain } = quick === undefined ? searched(rooms, needed, domains) : { plan: quick, certain: true };
  if (plan !== undefined) return { ...plan, keeps: [...(plan.keeps ?? []), ...laterKeeps(plan, parts, domains)] };
  const own = named(rooms);
  const hard = needed.find(({ partition }) => partition?.limit.mode === "hard");
  const plain = fitOf(rooms, needed);
  if (!plain.fits || hard?.partition === undefined)
    return { fits: false, why: plain.fits ? "its partitions do not fit together" : plain.why, certain };
  return { fits: false, why: withFaults(piecesText(own, hard, hard.partition, domains), domains), certain };
};

/** Plans all parts inside one HyperNode. */
const fitInside = (
  rooms: readonly Room[],
  { parts, limit }: TopologyRequest & { readonly limit: Limit },
  domains: Domains,
): Fit => {
  const own = named(rooms);
  const needed = minimal(parts);
  const allowed = allowedBy(limit, domains);
  const tried = allowed
    .map((domain) => triedIn(own, needed, domain))
    .sort((a, b) => a.domain.tier - b.domain.tier || a.spare - b.spare || (a.domain.name < b.domain.name ? -1 : 1));
  const last = workIn(parts) + mostLooks;
  let certain = true;
  for (const { domain, rooms: there, spare } of tried) {
    if (spare < total(needed)) continue;
    if (workIn(parts) > last) {
      certain = false;
      break;
    }
    const fit = fitParts(there, parts, domains);
    if (fit.fits) {
      const keeps = [keptIn("", domain, limit, domains), ...(fit.keeps ?? [])];
      return { ...fit, left: updated(rooms, fit.left), keeps };
    }
    certain &&= fit.certain;
  }
  if (limit.mode === "soft") return fitParts(rooms, parts, domains);
  const why = lackText({ parts: needed, limit }, tried);
  return {
    fits: false,
    why: withFaults(allowed.length === 0 ? `${why}; ${noneText(domains)}` : why, domains),
    certain,
  };
};

/** Plans the minimum of a group. */
export const fitNear = (rooms: readonly Room[], ask: TopologyRequest, domains: Domains = nowhere): Fit => {
  const { parts, limit } = ask;
  return limit === undefined ? fitParts(rooms, parts, domains) : fitInside(rooms, { parts, limit }, domains);
};
