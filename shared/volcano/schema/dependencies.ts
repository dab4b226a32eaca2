/** The graph that dependencies form: whether all can be started in some order. */
import { nameOf, type Task } from "./spec.ts";

/** By name, those that each comes after. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Names that can never come: they are in a circle, or after something that is, or after what there is not. */
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

/** True when every task can come after those that it depends on. One that depends on no task of the job never can. */
export const formsDag = (tasks: readonly Task[]): boolean =>
  unstartable(new Map(tasks.map((task) => [nameOf(task), task.dependsOn?.name ?? []]))).length === 0;
