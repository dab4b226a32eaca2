/** Jobs with annotations for behaviour that upstream does not have. */
import type { Scenario } from "../scenario.ts";
import { done, fails, job, living, long, phaseIs, podRuns, policy, remove, runningIs, slowly } from "./jobs.ts";

const suspend = (text: string) => ({ type: "annotate", annotations: { "rekindle.dev/suspend": text } }) as const;

export const wishes: readonly Scenario[] = [
  job({
    name: "job-backoff",
    what: "it is restarted twice, and its pods come after 20 s, and after 40",
    annotations: { "rekindle.dev/restart-backoff": "20s" },
    spec: { maxRetry: 5, policies: [policy("PodFailed", "RestartJob")] },
    lives: living({ "worker-1": [fails, fails, done], "*": [long, long, done] }),
    ends: "Completed",
  }),
  job({
    name: "job-active-deadline",
    what: "it runs for longer than it may, whoever dies meanwhile",
    annotations: { "rekindle.dev/active-deadline": "30s" },
    lives: living({ "*": [{}] }),
    ends: "Terminated",
  }),
  job({
    name: "job-free-eviction",
    what: "a user deletes a pod of a job without a retry to spend, and none is spent by the restart",
    annotations: { "rekindle.dev/evictions": "free" },
    spec: { maxRetry: 1, policies: [policy("PodEvicted", "RestartJob")] },
    lives: living({ "*": [slowly] }),
    userActions: [remove("worker-1", runningIs(3))],
    ends: "Completed",
  }),
  job({
    name: "job-suspended",
    what: "a job without a retry to spend is suspended and resumed by its annotation",
    spec: { maxRetry: 1 },
    lives: living({ "*": [slowly] }),
    userActions: [
      { says: "kubectl annotate, suspend", when: podRuns("worker-1"), afterMs: 1_000, do: suspend("true") },
      { says: "kubectl annotate, resume", when: phaseIs("Aborted"), afterMs: 5_000, do: suspend("false") },
    ],
    ends: "Completed",
  }),
  job({
    name: "job-exit-codes",
    what: "a pod ends with a code of a range, which goes before its policy",
    annotations: { "rekindle.dev/exit-codes": "1-127=AbortJob; 137-143=RestartJob" },
    spec: { policies: [policy("PodFailed", "TerminateJob")] },
    lives: living({ "worker-0": [{ runMs: 2_000, exitCode: 143 }, done], "*": [long, done] }),
    ends: "Completed",
  }),
  job({
    name: "job-success-targets",
    what: "its master succeeds, which is enough for it, though its workers never end",
    annotations: { "rekindle.dev/success-targets": "master" },
    lives: living({ "master-0": [done], "*": [{}] }),
    ends: "Completed",
  }),
];
