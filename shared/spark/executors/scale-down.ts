/** Selects the surplus executors to delete: pending ones first, then idle ones, and busy ones only by `force`. */
import { isLiving, type Member } from "./members.ts";

export type Surplus = {
  readonly expected: number;
  readonly members: readonly Member[];
  /** Ids with running tasks, by the driver; undefined while it gives no answer. */
  readonly busy: ReadonlySet<number> | undefined;
  /** Busy executors may be deleted, too. */
  readonly force: boolean;
};

export type Shrinking = {
  readonly leaving: readonly Member[];
  /** The number of surplus executors that are busy or of unknown state. */
  readonly kept: number;
};

const never = Number.POSITIVE_INFINITY;

/** The cost of a deletion: pending 0, idle 1, busy 2; infinite for one that may not be deleted. */
const costOf = ({ busy, force }: Surplus, { id, state }: Member): number => {
  if (state === "pending") return 0;
  if (busy === undefined) return never;
  // A running executor that the driver does not know has no tasks.
  if (!busy.has(id)) return 1;
  return force ? 2 : never;
};

/** Selects from the living executors; of equals the youngest go first. */
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
