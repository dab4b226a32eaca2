/** The graph that tasks form by `dependsOn`: whether they can all be started in some order. */
import { nameOf, type Task } from "./spec.ts";

/** True when every task can come after those that it depends on. One that depends on no task of the job never can. */
export const formsDag = (tasks: readonly Task[]): boolean => {
  const waiting = new Map(tasks.map((task) => [nameOf(task), new Set(task.dependsOn?.name ?? [])]));
  const started = new Set<string>();
  for (;;) {
    const ready = [...waiting].filter(([, before]) => [...before].every((name) => started.has(name)));
    if (ready.length === 0) return waiting.size === 0;
    for (const [name] of ready) {
      started.add(name);
      waiting.delete(name);
    }
  }
};
