/**
 * Selects the surplus executors to delete: pending ones first, then idle ones without data, then idle ones that hold
 * shuffle data or cached blocks, and busy ones only by `force`. Data that a job may need moves to another executor.
 */

import type { SparkApplicationSpec } from "../schema/application.ts";
import { isDynamic } from "../schema/rules.ts";
import { isLiving, type Member } from "./members.ts";

const decommission = "spark.decommission.enabled";
const storage = "spark.storage.decommission.enabled";

/**
 * Confs with which an executor that is told to end moves its data to others first. The interval is also the time until
 * an executor sees that nothing is left to move: Spark's own of 30 s is as long as a pod's usual grace.
 */
export const decommissionConfs: readonly (readonly [key: string, value: string])[] = [
  [decommission, "true"],
  [storage, "true"],
  ["spark.storage.decommission.replicationReattemptInterval", "2s"],
];

/** True when executors of the run move their data before they end: by the user's confs, or by Rekindle's own. */
export const isMigrating = (spec: SparkApplicationSpec, own: boolean): boolean =>
  [decommission, storage].every((key) => {
    const text = spec.sparkConf?.[key]?.trim().toLowerCase();
    return text === undefined ? own && isDynamic(spec) : text === "true";
  });

/** The data of executors, which is to outlive them; see `Registered`. */
export type Data = {
  readonly holders: ReadonlySet<number>;
  /** Executors move their data before they end. */
  readonly moves: boolean;
  /** A job is running, which may need the data. */
  readonly needed: boolean;
};

export type Surplus = {
  readonly expected: number;
  readonly members: readonly Member[];
  /** Ids with running tasks, by the driver; undefined while it gives no answer. */
  readonly busy: ReadonlySet<number> | undefined;
  /** Busy executors may be deleted, too. */
  readonly force: boolean;
  /** Absent: data is of no account, because the user sets the number of executors. */
  readonly data?: Data | undefined;
};

export type Shrinking = {
  readonly leaving: readonly Member[];
  /** The number of surplus executors that are busy, of unknown state, or hold data. */
  readonly kept: number;
};

const never = Number.POSITIVE_INFINITY;

/** The cost of a deletion: pending 0, idle 1, idle with data 2, busy 3; infinite for one that may not be deleted. */
const costOf = ({ busy, force, data }: Surplus, { id, state }: Member): number => {
  if (state === "pending") return 0;
  if (busy === undefined) return never;
  // A running executor that the driver does not know has no tasks.
  if (busy.has(id)) return force ? 3 : never;
  return data?.holders.has(id) === true ? 2 : 1;
};

/**
 * The number of holders of data that may leave now. They leave one after the other, because an executor that leaves
 * takes no data of others, and the last one stays while a job runs. Data that does not move stays where it is.
 */
const holdersFree = ({ members, force, data }: Surplus): number => {
  if (data === undefined || force) return never;
  if (!data.moves || members.some(({ state }) => state === "ending")) return 0;
  const holders = members.filter((member) => isLiving(member) && data.holders.has(member.id)).length;
  return data.needed && holders <= 1 ? 0 : 1;
};

/** Selects from the living executors; of equals the youngest go first. */
export const shrink = (surplus: Surplus): Shrinking => {
  const living = surplus.members.filter(isLiving);
  const excess = Math.max(0, living.length - surplus.expected);
  const mostHolders = holdersFree(surplus);
  const ranked = living
    .map((member) => ({ member, cost: costOf(surplus, member) }))
    .filter(({ cost }) => Number.isFinite(cost))
    .sort((a, b) => a.cost - b.cost || b.member.id - a.member.id);
  const holders = ranked.filter(({ cost }) => cost === 2).slice(0, mostHolders);
  const leaving = ranked
    .filter((one) => one.cost !== 2 || holders.includes(one))
    .slice(0, excess)
    .map(({ member }) => member);
  return { leaving, kept: excess - leaving.length };
};
