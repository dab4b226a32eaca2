/** Jobs with timers. */
import type { Scenario } from "../scenario.ts";
import { job, living, policy, remove, runningIs } from "./jobs.ts";

export const timers: readonly Scenario[] = [
  job({
    name: "job-comes-back",
    what: "an evicted pod comes back before the time after which the job would be restarted",
    spec: { policies: [policy("PodEvicted", "RestartJob", { timeout: "10m" })] },
    lives: living({ "*": [{ runMs: 900_000 }] }),
    userActions: [remove("worker-0", runningIs(3))],
    ends: "Completed",
  }),
  job({
    name: "job-never-starts",
    what: "a pod's image cannot be pulled in the time that a policy gives it",
    spec: { policies: [policy("PodPending", "TerminateJob", { timeout: "40s" })] },
    scripts: { "pi-worker-1": [{ pull: "fails" }] },
    lives: living({ "*": [{}] }),
    ends: "Terminated",
  }),
  job({
    name: "job-expiry",
    what: "its time to live is over",
    spec: { ttlSecondsAfterFinished: 30, plugins: { svc: [] } },
    ends: "gone",
  }),
];
