/** Jobs in a namespace whose quota never has room for all of their pods; one of the pods that it counts is not theirs. */
import type { Scenario } from "../scenario.ts";
import { command } from "./commands.ts";
import { fails, job, living, long, policy, runningIs, task } from "./jobs.ts";

const quota = (pods: number): readonly [string, object] => [
  "/api/v1/namespaces/default/resourcequotas",
  { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "team" }, spec: { hard: { pods: `${pods}` } } },
];

const wide = { minAvailable: 2, tasks: [task("worker", { replicas: 5 })] };

export const refusals: readonly Scenario[] = [
  job({
    name: "job-quota-abort",
    what: "a quota refuses two of its five pods for ever: the status counts the three, and a command aborts it",
    stands: [quota(4)],
    spec: wide,
    lives: living({ "*": [long] }),
    userActions: [command("AbortJob", runningIs(3), 300_000)],
    ends: "Aborted",
  }),
  job({
    name: "job-quota-policy",
    what: "a quota refuses two of its five pods for ever, and one of the three fails: the job's policy aborts it",
    stands: [quota(4)],
    spec: { ...wide, policies: [policy("PodFailed", "AbortJob")] },
    lives: living({ "worker-1": [{ ...fails, runMs: 300_000 }], "*": [long] }),
    userActions: [],
    ends: "Aborted",
  }),
];
