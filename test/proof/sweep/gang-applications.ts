/** Applications whose driver and executors start as one group, by plans. `volcano/gang-judge.ts` holds what they must keep. */
import { appName, base, type Scenario } from "./scenario.ts";

const annotations = { "rekindle.dev/executors": "own", "rekindle.dev/gang": "true" } as const;

/** Of the 64 cores of the machine, 56. */
const wide = {
  ...base,
  driver: { ...base.driver, cores: 16 },
  executor: { ...base.executor, cores: 20 },
};

export const gangApplications: readonly Scenario[] = [
  {
    name: "gang-application",
    what: "driver and executors start as one group, in the first run, which fails, and in the second: no driver without places for its executors",
    gang: "builtin",
    spec: { ...wide, restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } },
    annotations,
    scripts: { [appName]: [{ jobMs: 400_000, exitCode: 1 }, { jobMs: 400_000 }] },
    userActions: [],
    ends: "COMPLETED",
    without: ["read-only-5m", "pause-600s"],
    breadth: "thin",
  },
];
