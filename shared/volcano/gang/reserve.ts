/**
 * The room that is reserved for nominated groups: those that get the places of evicted pods. Until such a group enters, its
 * places count as taken, also while the evicted pods still have them.
 */
import type { Stored } from "../../core/object.ts";
import { type Place, taskIn } from "../../kube/gang-plan.ts";
import type { Fit, Part } from "./fit.ts";
import { type Room, roomAfter } from "./rooms.ts";
import type { Nomination } from "./state/memory.ts";

/** Takes the places of a plan, also from nodes whose room is still to come. */
const reserved = (rooms: readonly Room[], places: readonly Place[], parts: readonly Part[]): readonly Room[] => {
  const byNode = Map.groupBy(places, ({ node }) => node);
  const partOf = new Map(parts.map((part) => [part.task, part]));
  return rooms.map((room) =>
    (byNode.get(room.node.metadata.name) ?? []).reduce((left, { task, count }) => {
      const part = partOf.get(taskIn(task));
      return part === undefined ? left : roomAfter(left, part, count);
    }, room),
  );
};

type Reservation = Pick<Nomination, "uid" | "places"> & { readonly parts: readonly Part[]; readonly saying: string };

export type Reserve = {
  readonly reservationOf: (uid: string) => Reservation | undefined;
  /** Returns the rooms that a group may use: its own reservation does not count. */
  readonly roomsFor: (uid: string) => readonly Room[];
  /** Takes the places of a group that enters, and ends its reservation. */
  readonly enter: (uid: string, plan: Entry, parts: readonly Part[]) => void;
};

type Entry = Pick<Extract<Fit, { fits: true }>, "places" | "left">;

/** The room of a round, less the places of nominated groups. */
export const openReserve = (free: readonly Room[], nominations: readonly Reservation[]): Reserve => {
  let base = free;
  let open = nominations;
  const withoutOthers = (uid: string): readonly Room[] =>
    open.filter((one) => one.uid !== uid).reduce((left, { places, parts }) => reserved(left, places, parts), base);
  let rooms = withoutOthers("");
  return {
    reservationOf: (uid) => open.find((one) => one.uid === uid),
    roomsFor: (uid) => (open.some((one) => one.uid === uid) ? withoutOthers(uid) : rooms),
    enter: (uid, { places, left }, parts) => {
      if (open.length === 0) {
        base = left;
        rooms = left;
        return;
      }
      base = reserved(base, places, parts);
      open = open.filter((one) => one.uid !== uid);
      rooms = withoutOthers("");
    },
  };
};

/** Returns the reservations of nominated groups that still wait. */
export const reservationsOf = (
  nominations: readonly Nomination[],
  groups: readonly Stored[],
  partsOf: (group: Stored) => readonly Part[] | undefined,
): readonly Reservation[] => {
  const byUid = new Map(groups.map((group) => [group.metadata.uid, group]));
  return nominations.flatMap(({ uid, places, victims }) => {
    const group = byUid.get(uid);
    const parts = group === undefined ? undefined : partsOf(group);
    const names = Object.keys(victims).flatMap((victim) => byUid.get(victim)?.metadata ?? []);
    const of = names.slice(0, 3).map(({ namespace = "", name }) => `${namespace}/${name}`);
    const saying = `waits until pods of ${of.length === 0 ? "other groups" : of.join(", ")} that are evicted for it have ended`;
    return parts === undefined ? [] : [{ uid, places, parts, saying }];
  });
};
