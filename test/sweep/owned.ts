/** Runs whose executors are Rekindle's: `rekindle.dev/executors: own`. */
import { appName, base, driverRuns, executorRuns, type Scenario } from "./plot.ts";

const own = { "rekindle.dev/executors": "own" } as const;

export const owned: readonly Scenario[] = [
  {
    name: "own-loss",
    what: "Rekindle is the allocator; an executor is killed, and another one deleted",
    spec: base,
    annotations: own,
    scripts: { [appName]: [{ hangs: true }] },
    acts: [
      {
        says: "an executor dies",
        when: executorRuns,
        afterMs: 1_500,
        do: { act: "kill", pod: /-exec-\d+$/, code: 137 },
      },
      { says: "an executor is evicted", when: executorRuns, afterMs: 20_000, do: { act: "evict", pod: /-exec-\d+$/ } },
    ],
    ends: "RUNNING",
    breadth: "thin",
  },
  {
    name: "own-more",
    what: "Rekindle is the allocator; more executors are asked for while it runs",
    spec: base,
    annotations: own,
    scripts: { [appName]: [{ hangs: true }] },
    acts: [
      {
        says: "four executors",
        when: driverRuns,
        afterMs: 6_000,
        do: { act: "patch", spec: { executor: { instances: 4 } } },
      },
    ],
    ends: "RUNNING",
    breadth: "thin",
  },
];
