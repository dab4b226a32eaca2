/**
 * The order of PodGroups that wait in one queue: the priority of their class, then age, then name. Admission takes them in
 * this order, and the command line tells a group's position by it.
 */
import { fieldsOf } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { instantOf } from "../core/time.ts";

/** A group and its rank: the lower of two different numbers at one place comes first. */
export type Ranked = { readonly group: Stored; readonly rank: readonly number[] };

/** Ranks a group within its queue; `priorities`: the values of the priority classes by their names. */
export const rankedInQueue = (group: Stored, priorities: ReadonlyMap<string, number>): Ranked => {
  const { priorityClassName } = fieldsOf(group.spec);
  const own = priorities.get(String(priorityClassName ?? "")) ?? 0;
  return { group, rank: [-own, instantOf(group.metadata.creationTimestamp) ?? 0] };
};

/** Compares two groups for a sort. */
export const byRank = (a: Ranked, b: Ranked): number => {
  const at = a.rank.findIndex((one, index) => one !== b.rank[index]);
  if (at >= 0) return (a.rank[at] ?? 0) - (b.rank[at] ?? 0);
  return a.group.metadata.name < b.group.metadata.name ? -1 : 1;
};
