/** The graph of dependencies: whether all nodes can be started in some order. */
import { nameOf, type Task } from "./spec.ts";

/** By name: the names that each depends on. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Returns the names that can never start: they are in a cycle, or depend on one that is, or on an unknown one. */
export const unstartable = (graph: Graph): readonly string[] => {
  const waiting = new Map(graph);
  const started = new Set<string>();
  for (;;) {
    const ready = [...waiting].filter(([, before]) => before.every((name) => started.has(name)));
    if (ready.length === 0) return [...waiting.keys()];
    for (const [name] of ready) {
      started.add(name);
      waiting.delete(name);
    }
  }
};

/** True if every task can start after those that it depends on. A task that depends on an unknown task cannot. */
export const formsDag = (tasks: readonly Task[]): boolean =>
  unstartable(new Map(tasks.map((task) => [nameOf(task), task.dependsOn?.name ?? []]))).length === 0;
