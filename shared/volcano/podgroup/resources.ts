/** The resources that a job's group needs to start: usage of its least pods, those of the highest priority first. */
import { type Quantity, quantityText } from "../../kube/quantity.ts";
import { leastOf, replicasOf, type Task } from "../schema/spec.ts";
import { add, multiplied, usageOf } from "./usage.ts";

/** A task and the value of its pods' priority class. */
export type Ranked = { readonly task: Task; readonly priority: number };

/** Sorts tasks by the priority of their pods, the highest first. */
export const inOrder = (tasks: readonly Ranked[]): readonly Ranked[] =>
  [...tasks].sort((a, b) => b.priority - a.priority);

/** Takes up to each limit, in order, until the total is reached. */
const taken = (limits: readonly number[], total: number): readonly number[] => {
  let left = total;
  return limits.map((limit) => {
    const count = Math.max(0, Math.min(limit, left));
    left -= count;
    return count;
  });
};

/** Returns how many pods of each task count: the minimum of each, filled up from the rest; fewer if `least` is less. */
export const counts = (tasks: readonly Ranked[], least: number): readonly number[] => {
  const minima = tasks.map(({ task }) => leastOf(task));
  const together = minima.reduce((sum, one) => sum + one, 0);
  if (least < together) return taken(minima, least);
  const rest = taken(
    tasks.map(({ task }, at) => replicasOf(task) - (minima[at] ?? 0)),
    least - together,
  );
  return minima.map((minimum, at) => minimum + (rest[at] ?? 0));
};

/** Returns `minResources` of the group, as texts. */
export const minResources = (tasks: readonly Ranked[], least: number): Readonly<Record<string, string>> => {
  const ordered = inOrder(tasks);
  const numbers = counts(ordered, least);
  const sum = new Map<string, Quantity>();
  for (const [at, { task }] of ordered.entries()) {
    const count = numbers[at] ?? 0;
    if (count > 0) add(sum, multiplied(usageOf(task.template?.spec ?? {}), count));
  }
  return Object.fromEntries([...sum].map(([name, amount]) => [name, quantityText(amount)]));
};
