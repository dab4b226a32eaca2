/**
 * The order in which the pods of a native gang are created. kube-scheduler places the pods of a gang one after the other
 * in the order of their creation, so a large pod that comes late may find no node.
 */
import { requestsOf } from "../../kube/pod-usage.ts";
import type { Task } from "../schema/spec.ts";

/** Resources that every node has; a pod that asks for others fits fewer nodes. */
const usual = ["cpu", "memory"];

type Size = readonly bigint[];

const sizeOf = (task: Task): Size => {
  const requests = requestsOf(task.template?.spec ?? {});
  const rare = [...requests].filter(([name]) => name !== "pods" && !usual.includes(name));
  return [rare.reduce((sum, [, { nano }]) => sum + nano, 0n), ...usual.map((name) => requests.get(name)?.nano ?? 0n)];
};

const bySize = (one: Size, other: Size): number => {
  const at = one.findIndex((amount, index) => amount !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0n) > (other[at] ?? 0n) ? -1 : 1;
};

/** Orders pods by their size, the largest first; pods of one size have one wave. */
export const largestFirst = <One extends { readonly task: Task }>(
  pods: readonly One[],
): readonly (One & { readonly wave: number })[] => {
  const tasks = [...new Set(pods.map(({ task }) => task))].map((task) => ({ task, size: sizeOf(task) }));
  const sorted = tasks.toSorted((a, b) => bySize(a.size, b.size));
  let wave = 0;
  const waves = new Map<Task, number>();
  for (const [at, { task, size }] of sorted.entries()) {
    const before = sorted[at - 1];
    if (before !== undefined && bySize(before.size, size) !== 0) wave += 1;
    waves.set(task, wave);
  }
  return pods.map((pod) => ({ ...pod, wave: waves.get(pod.task) ?? 0 })).toSorted((a, b) => a.wave - b.wave);
};
