/** Runs whose executors Rekindle creates: `rekindle.dev/executors: own`. */
import { appName, base, bothRun, type Scenario } from "./scenario.ts";

const own = { "rekindle.dev/executors": "own" } as const;

/** Faults that would last longer than the job. */
const outlasting = ["read-only-5m", "pause-600s"];

export const owned: readonly Scenario[] = [
  {
    name: "own-loss",
    what: "Rekindle is the allocator; an executor is killed",
    spec: base,
    annotations: own,
    scripts: { [appName]: [{ jobMs: 400_000 }] },
    userActions: [
      {
        says: "an executor dies",
        when: bothRun,
        afterMs: 1_500,
        do: { type: "kill", pod: /-exec-\d+$/, code: 137 },
      },
    ],
    ends: "COMPLETED",
    without: outlasting,
    breadth: "thin",
    also: ["stale"],
    behindBy: [2, 16, 40],
  },
  {
    name: "own-memory",
    what: "Rekindle is the allocator, of Spark 4.2; an executor lacks memory, and later another is killed",
    spec: { ...base, sparkVersion: "4.2.1", executor: { ...base.executor, cores: 2 } },
    annotations: own,
    scripts: { [appName]: [{ jobMs: 400_000 }] },
    userActions: [
      {
        says: "an executor lacks memory",
        when: bothRun,
        afterMs: 1_500,
        do: { type: "kill", pod: /-exec-\d+$/, code: 52 },
      },
      {
        says: "another executor is killed",
        when: bothRun,
        afterMs: 45_000,
        do: { type: "kill", pod: /-exec-\d+$/, nth: 1, code: 137 },
      },
    ],
    ends: "COMPLETED",
    without: outlasting,
    breadth: "thin",
  },
  {
    name: "own-machine-stays",
    what: "Rekindle is the allocator; an executor's machine is said to go, and then to stay",
    spec: base,
    annotations: own,
    scripts: { [appName]: [{ hangs: true }] },
    userActions: [
      {
        says: "its machine goes in two minutes",
        when: bothRun,
        afterMs: 1_500,
        do: { type: "leaving", pod: /-exec-\d+$/, nth: 1 },
      },
      { says: "all machines stay", when: bothRun, afterMs: 4_000, do: { type: "staying" } },
    ],
    ends: "RUNNING",
    machines: ["node-1", "node-2", "node-3"],
    breadth: "thin",
    also: ["deaf", "stale"],
  },
];
