/** Executors are lost in all ways, where the driver's allocator creates them (assist) and where Rekindle does (own). */
import { appName, base, bothRun, executorRuns, type Scenario, stateIs, type UserAction } from "./scenario.ts";

const modes = [
  { mode: "assist", annotations: {} },
  { mode: "own", annotations: { "rekindle.dev/executors": "own" } },
] as const;

/** Pods by the order of their ids, which begin with 1 in `assist` and with 1001 in `own`: a fault costs ids. */
const named = { first: { pod: /-exec-\d+$/ }, second: { pod: /-exec-\d+$/, nth: 1 } } as const;

const dies: UserAction = {
  says: "an executor dies",
  when: executorRuns,
  afterMs: 1_500,
  do: { type: "kill", ...named.first, code: 137 },
};

/** The second can die only when there are two. */
const allDie: readonly UserAction[] = [
  { ...dies, when: bothRun },
  { ...dies, when: bothRun, do: { type: "kill", ...named.second, code: 137 } },
];

type Way = Pick<Scenario, "name" | "what" | "userActions" | "ends"> &
  Partial<Pick<Scenario, "scripts" | "machines" | "also">>;

const ways: readonly Way[] = [
  {
    name: "mass-loss",
    what: "all executors die at once",
    userActions: allDie,
    ends: "RUNNING",
  },
  {
    name: "loss-suspended",
    what: "an executor dies, and the application is suspended and resumed",
    userActions: [
      dies,
      { says: "suspend", when: executorRuns, afterMs: 1_600, do: { type: "patch", spec: { suspend: true } } },
      { says: "resume", when: stateIs("SUSPENDED"), afterMs: 20_000, do: { type: "patch", spec: { suspend: false } } },
    ],
    ends: "RUNNING",
  },
  {
    name: "loss-deleted",
    what: "an executor dies, and the application is deleted",
    userActions: [dies, { says: "kubectl delete", when: executorRuns, afterMs: 1_600, do: { type: "delete" } }],
    ends: "gone",
  },
  {
    name: "loss-driver-again",
    what: "an executor dies, and then the driver, which is tried again",
    userActions: [
      dies,
      { says: "the driver dies", when: executorRuns, afterMs: 6_000, do: { type: "kill", pod: /-driver$/, code: 137 } },
    ],
    ends: "RUNNING",
  },
  {
    name: "loss-unheard",
    what: "executors die while the watch is broken",
    userActions: [
      { says: "the watch breaks", when: bothRun, afterMs: 500, do: { type: "unhear", ms: 20_000 } },
      { ...dies, when: bothRun },
    ],
    ends: "RUNNING",
  },
];

const spec = { ...base, restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } };

const away: UserAction = {
  says: "its machine stands still",
  when: bothRun,
  afterMs: 1_500,
  do: { type: "freeze", ...named.second },
};
const back = (afterMs: number): UserAction => ({
  says: "machines go on",
  when: bothRun,
  afterMs,
  do: { type: "thaw" },
});

const machineWays: readonly Way[] = [
  {
    name: "machine-back-soon",
    what: "an executor's machine stands still and comes back before it is given up",
    userActions: [away, back(30_000)],
    ends: "RUNNING",
    machines: ["node-1", "node-2", "node-3"],
  },
  {
    name: "machine-back-late",
    what: "an executor's machine stands still, and comes back when the executor was replaced",
    userActions: [away, back(420_000)],
    ends: "RUNNING",
    machines: ["node-1", "node-2", "node-3"],
  },
  {
    name: "machine-leaves",
    what: "an executor's machine is said to go, and the executor goes before it",
    userActions: [
      {
        says: "its machine goes in two minutes",
        when: bothRun,
        afterMs: 1_500,
        do: { type: "leaving", ...named.second },
      },
    ],
    ends: "RUNNING",
    machines: ["node-1", "node-2", "node-3"],
    // A list from before the notice, read after the replacement runs, shows one too many: an idle one is ended and
    // replaced.
    also: ["deaf"],
  },
  {
    name: "machine-gone",
    what: "an executor's machine is deleted without notice, and the executor is replaced at once",
    userActions: [
      { says: "its machine is deleted", when: bothRun, afterMs: 1_500, do: { type: "unplug", ...named.second } },
    ],
    ends: "RUNNING",
    machines: ["node-1", "node-2", "node-3"],
  },
];

/** All ways in both modes. */
export const executorLosses: readonly Scenario[] = modes.flatMap(({ mode, annotations }) =>
  [...ways, ...machineWays].map(
    ({ also = ["stale", "deaf"], ...way }): Scenario => ({
      scripts: { [appName]: [{ hangs: true }] },
      ...way,
      name: `${mode}-${way.name}`,
      what: `${mode}: ${way.what}`,
      spec,
      annotations,
      breadth: "thin",
      also,
      without: ["read-only-5m"],
    }),
  ),
);
