/** Executors are OOMKilled, and later ones have more memory overhead: `rekindle.dev/executor-oom-overhead`. */
import { appName, base, bothRun, type Scenario, type UserAction } from "./scenario.ts";

const minute = 60_000;

/** The executor with the nth lowest number is OOMKilled. A step that died is repeated before the next one is. */
const outOfMemory = (nth: number, afterMs: number): UserAction => ({
  says: "an executor is OOMKilled",
  when: bothRun,
  afterMs,
  do: { type: "kill", pod: /-exec-\d+$/, nth, code: 137, reason: "OOMKilled" },
});

const first = [outOfMemory(0, 2_000), outOfMemory(1, 2_000)];

/** 512 MiB of heap beside an overhead of 384 MiB, of 576, and of the limit. */
const sizes = [896, 1_088, 1_212];

type Way = Pick<Scenario, "name" | "what" | "userActions"> & Partial<Pick<Scenario, "spec" | "sizes">>;

const ways: readonly Way[] = [
  {
    name: "own-out-of-memory",
    what: "two executors are OOMKilled at once, then one with more overhead, then one at the limit: it grows once for each size, up to the limit",
    userActions: [...first, outOfMemory(2, 3 * minute), outOfMemory(4, 6 * minute)],
  },
  {
    name: "own-out-of-memory-late",
    what: "an executor from before the overhead grew is OOMKilled later, which changes nothing",
    userActions: [outOfMemory(0, 2_000), outOfMemory(1, 3 * minute), outOfMemory(2, 6 * minute)],
  },
  {
    name: "own-out-of-memory-again",
    what: "the driver dies after the overhead has grown: executors of the next attempt begin with the usual one",
    spec: { restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 5 } },
    userActions: [
      ...first,
      { says: "the driver dies", when: bothRun, afterMs: 3 * minute, do: { type: "kill", pod: /-driver$/, code: 137 } },
    ],
  },
];

export const memoryGrowth: readonly Scenario[] = ways.map(
  ({ spec, ...way }): Scenario => ({
    annotations: { "rekindle.dev/executors": "own", "rekindle.dev/executor-oom-overhead": "1.5 up to 700Mi" },
    scripts: { [appName]: [{ hangs: true }] },
    sizes,
    ...way,
    spec: { ...base, ...spec },
    ends: "RUNNING",
    breadth: "thin",
    also: ["stale", "deaf"],
    without: ["read-only-5m"],
  }),
);
