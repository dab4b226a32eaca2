/** Which executors go when there are more than wanted: those that wait for a place, then the idle, and no busy one unasked. */
import { isLiving, type Member } from "./members.ts";

export type Surplus = {
  readonly expected: number;
  readonly members: readonly Member[];
  /** Who runs tasks, as the driver tells; undefined while it tells nothing. */
  readonly busy: ReadonlySet<number> | undefined;
  /** Busy ones may go, too. */
  readonly force: boolean;
};

export type Shrinking = {
  readonly leaving: readonly Member[];
  /** More than wanted, and busy or nothing known of. */
  readonly kept: number;
};

const never = Number.POSITIVE_INFINITY;

/** Who waits for a place, then who idles, then who is busy; of whom nothing is known, never. */
const costOf = ({ busy, force }: Surplus, { id, standing }: Member): number => {
  if (standing === "pending") return 0;
  if (busy === undefined) return never;
  // An executor that runs and that the driver does not know has no tasks.
  if (!busy.has(id)) return 1;
  return force ? 2 : never;
};

/** Those that are ending already are none of the living. The youngest of equals go first. */
export const shrink = (surplus: Surplus): Shrinking => {
  const living = surplus.members.filter(isLiving);
  const excess = Math.max(0, living.length - surplus.expected);
  const leaving = living
    .map((member) => ({ member, cost: costOf(surplus, member) }))
    .filter(({ cost }) => Number.isFinite(cost))
    .sort((a, b) => a.cost - b.cost || b.member.id - a.member.id)
    .slice(0, excess)
    .map(({ member }) => member);
  return { leaving, kept: excess - leaving.length };
};
