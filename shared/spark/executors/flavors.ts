/**
 * Executors of an application with Kueue's queue label by the flavors whose quota they use. An executor on nodes of
 * one flavor never uses quota of another, so each set of flavors grants executors of its own. The name of the base's
 * flavors is "", because its executors are placed by the application's spec.
 */
import { digest } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import { flavorsOf } from "../../kube/kueue-placement.ts";
import { underwayIn } from "./allocation.ts";
import { type Allotment, isLiving, type Member } from "./allotment.ts";
import { type Grants, grantOn } from "./grants.ts";

/** Annotation of an executor of a growth: the flavors whose quota it uses, where the base uses others. */
export const flavorsKey = "rekindle.dev/kueue-flavors";

/** The pod set of executors in the application's own Workload and in its growths. */
export const podSet = "executor";

/** The most characters of a name of flavors. */
const longest = 63;

/** Returns one short name for the flavors that an admission has assigned to executors. */
export const flavorsNameOf = (workload: Stored): string => {
  const names = flavorsOf(workload, podSet).toSorted().join(",");
  return names.length <= longest ? names : digest(names).slice(0, longest);
};

const flavorsOfMember = ({ pod }: Member): string => pod.metadata.annotations?.[flavorsKey] ?? "";

/** The members that use quota of these flavors. */
export const membersOn = (flavors: string, members: readonly Member[]): readonly Member[] =>
  members.filter((member) => flavorsOfMember(member) === flavors);

/** The number of executors that use quota of these flavors, or may begin to. Those that leave use it until they end. */
export const occupiedOn = (flavors: string, members: readonly Member[], { underway }: Allotment): number =>
  membersOn(flavors, members).filter((one) => isLiving(one) || one.state === "ending").length +
  underwayIn({ underway: underway.filter((round) => (round.flavors ?? "") === flavors) });

export type Room = { readonly flavors: string; readonly executors: number };

/** The first flavors that grant more executors than there are; the base's where none do. */
export const roomIn = (grants: Grants, members: readonly Member[], allotment: Allotment): Room => {
  const rooms = Object.entries(grants).map(([flavors, granted]) => ({
    flavors,
    executors: Math.max(0, granted - occupiedOn(flavors, members, allotment)),
  }));
  return rooms.find(({ executors }) => executors > 0) ?? { flavors: "", executors: 0 };
};

/** The flavors on which more executors live than are granted. */
export const overfullIn = (grants: Grants, members: readonly Member[]): string | undefined =>
  [...new Set(members.filter(isLiving).map(flavorsOfMember))].find(
    (flavors) => membersOn(flavors, members).filter(isLiving).length > grantOn(grants, flavors),
  );
