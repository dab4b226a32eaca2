/** The number of executors changes during a run: by its user where Rekindle creates them, or by its driver. */
import { appName, base, bothRun, executorRuns, type Scenario, threeRun, type UserAction } from "./scenario.ts";

const own = { "rekindle.dev/executors": "own" } as const;
const force = { ...own, "rekindle.dev/executor-scale-down": "force" } as const;
const minute = 60_000;

const scaledTo = (instances: number): UserAction => ({
  says: `kubectl patch: ${instances} executors`,
  when: bothRun,
  afterMs: 2_000,
  do: { type: "patch", spec: { executor: { ...base.executor, instances } } },
});

/** An executor dies a moment after the edit. */
const losing = (nth: number): UserAction => ({
  says: "an executor dies",
  when: bothRun,
  afterMs: 2_015,
  do: { type: "kill", pod: /-exec-\d+$/, nth, code: 137 },
});

/** All executors work for this time, and are idle then; the job goes on. */
const working = (busyMs: number): Scenario["scripts"] => ({
  [appName]: [{ hangs: true, executors: { "*": { busyMs } } }],
});

/** The same, but the first works much longer: the order of arrival does not change which one is ended. */
const firstLonger = (busyMs: number): Scenario["scripts"] => ({
  [appName]: [{ hangs: true, executors: { "1001": { busyMs: 60 * minute }, "*": { busyMs } } }],
});

type Way = Pick<Scenario, "name" | "what" | "userActions" | "scripts"> &
  Partial<Pick<Scenario, "annotations" | "spec" | "without">>;

const ways: readonly Way[] = [
  {
    name: "own-more",
    what: "more executors are wanted while it runs, which is no other run",
    userActions: [scaledTo(4)],
    scripts: working(0),
  },
  {
    name: "own-fewer",
    what: "fewer executors are wanted: one that idles goes",
    userActions: [scaledTo(1)],
    scripts: working(0),
  },
  {
    name: "own-fewer-busy",
    what: "fewer executors are wanted while all work: one goes when it has nothing to do any more",
    userActions: [scaledTo(1)],
    scripts: firstLonger(minute),
    // A refused executor comes again under another id, and is no longer the one that works longer.
    without: ["409"],
  },
  {
    name: "own-fewer-force",
    what: "fewer executors are wanted while all work, and its user lets one of them be ended",
    annotations: force,
    userActions: [scaledTo(1)],
    scripts: working(60 * minute),
  },
  {
    name: "own-to-and-fro",
    what: "more executors are wanted, and then as few as before",
    userActions: [scaledTo(3), { ...scaledTo(2), when: threeRun }],
    scripts: working(0),
  },
  {
    name: "own-more-loss",
    what: "an executor dies while more are asked for: as many live as are wanted",
    userActions: [scaledTo(3), losing(0)],
    scripts: working(60 * minute),
  },
  {
    name: "own-fewer-loss",
    what: "an executor dies while fewer are asked for: it is not replaced, and nobody else goes",
    userActions: [scaledTo(1), losing(1)],
    scripts: working(60 * minute),
  },
];

/** Spark asks for more executors while tasks wait, and dismisses idle ones down to its minimum. */
const dynamic: Scenario = {
  name: "assist-dynamic",
  what: "the driver asks for more executors, and then dismisses those that idle: none of them is lost",
  spec: {
    ...base,
    sparkConf: { ...base.sparkConf, "spark.dynamicAllocation.executorIdleTimeout": "20s" },
    dynamicAllocation: { enabled: true, initialExecutors: 2, minExecutors: 1, maxExecutors: 3 },
  },
  scripts: { [appName]: [{ hangs: true, backlogMs: 8_000, executors: { "*": { busyMs: 10_000 } } }] },
  userActions: [],
  ends: "RUNNING",
  breadth: "thin",
  also: ["stale", "deaf"],
  without: ["read-only-5m"],
};

const dynamicLoss: Scenario = {
  ...dynamic,
  name: "assist-dynamic-loss",
  what: "an executor dies while the driver asks for more, which later idle: that one is lost, and none of the others",
  userActions: [
    { says: "an executor dies", when: executorRuns, afterMs: 8_500, do: { type: "kill", pod: /-exec-1$/, code: 137 } },
  ],
};

export const scaling: readonly Scenario[] = [
  ...ways.map(
    ({ without = [], ...way }): Scenario => ({
      annotations: own,
      spec: base,
      ...way,
      ends: "RUNNING",
      breadth: "thin",
      also: ["stale", "deaf"],
      without: ["read-only-5m", ...without],
    }),
  ),
  dynamic,
  dynamicLoss,
];
