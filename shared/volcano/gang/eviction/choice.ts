/**
 * Chooses the pods to evict for a group: the first units in their order with which its minimum fits, and of these as few as
 * possible. Whoever is chosen is needed: without any one of them, the group has no plan.
 */
import { fieldsOf } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import type { Place } from "../../../kube/gang-plan.ts";
import { nodeNameOf } from "../../../kube/pods.ts";
import type { RoomLeft } from "../ground.ts";
import { needsOf, take } from "../needs.ts";
import type { Room } from "../rooms.ts";
import type { Unit } from "./victims.ts";

/** The most pods that are evicted for one group: each is an entry of the queue's record, and a request. */
const mostPods = 100;

/** The most units that are looked at for one group. */
const mostUnits = 500;

/** The most work of one choice, in looks at a node. */
const mostLooks = 150_000;

export type Choice = { readonly units: readonly Unit[]; readonly places: readonly Place[] };

/** Returns the rooms as they are when these pods have ended. Whom their anti-affinity keeps off stays kept off. */
const released = (rooms: readonly Room[], units: readonly Unit[]): readonly Room[] => {
  const pods = new Map(units.flatMap((unit) => unit.pods.map((pod) => [pod.metadata.uid, pod] as const)));
  const byNode = Map.groupBy(pods.values(), nodeNameOf);
  return rooms.map((room) => {
    const there: readonly Stored[] = byNode.get(room.node.metadata.name) ?? [];
    // A node without free amounts is held for another group.
    if (there.length === 0 || room.free.size === 0) return room;
    const free = new Map(room.free);
    for (const pod of there) take(free, needsOf(fieldsOf(pod.spec)), -1);
    return { ...room, free };
  });
};

/** Returns the fewest first units that satisfy the test; undefined if all of them do not. */
const shortest = (units: readonly Unit[], fits: (some: readonly Unit[]) => boolean): readonly Unit[] | undefined => {
  if (!fits(units)) return undefined;
  let [low, high] = [0, units.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fits(units.slice(0, middle))) high = middle;
    else low = middle + 1;
  }
  return units.slice(0, high);
};

/** Leaves out units that are not needed, the most worthy first; large parts are tried before single units. */
const reprieved = (chosen: readonly Unit[], fits: (some: readonly Unit[]) => boolean): readonly Unit[] => {
  let kept = chosen;
  for (let size = 2 ** Math.floor(Math.log2(Math.max(1, kept.length))); size >= 1; size /= 2)
    for (let end = kept.length; end > 0; end -= size) {
      const without = kept.filter((_, at) => at < end - size || at >= end);
      if (fits(without)) kept = without;
    }
  return kept;
};

/** Returns the units to evict, and the plan that the group then has; undefined if there is none within the work. */
export const choose = ({ rooms, parts, work, fit: fitOf }: RoomLeft, all: readonly Unit[]): Choice | undefined => {
  const useful = new Set(
    rooms
      .filter(({ node }) => parts.some(({ accepts }) => accepts(node) === undefined))
      .map(({ node }) => node.metadata.name),
  );
  const units = all.filter(({ pods }) => pods.some((pod) => useful.has(nodeNameOf(pod) ?? ""))).slice(0, mostUnits);
  const last = work.looks + mostLooks;
  const planWith = (some: readonly Unit[]): readonly Place[] | undefined => {
    if (work.looks > last) return undefined;
    const fit = fitOf(released(rooms, some));
    return fit.fits ? fit.places : undefined;
  };
  const fits = (some: readonly Unit[]): boolean => planWith(some) !== undefined;
  const first = shortest(units, fits);
  if (first === undefined) return undefined;
  const chosen = reprieved(first, fits);
  const places = planWith(chosen);
  const count = chosen.reduce((sum, { pods }) => sum + pods.length, 0);
  return places === undefined || chosen.length === 0 || count > mostPods ? undefined : { units: chosen, places };
};
