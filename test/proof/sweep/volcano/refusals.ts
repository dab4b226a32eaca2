/**
 * Jobs in a namespace whose quota never has room for all of their pods; one of the pods that it counts is not theirs. And
 * jobs whose pods are gone before the first record is saved.
 */
import type { Scenario, UserAction } from "../scenario.ts";
import { command } from "./commands.ts";
import { fails, job, living, long, master, policy, remove, runningIs, task, workers } from "./jobs.ts";

const quota = (pods: number): readonly [string, object] => [
  "/api/v1/namespaces/default/resourcequotas",
  { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "team" }, spec: { hard: { pods: `${pods}` } } },
];

const wide = { minAvailable: 2, tasks: [task("worker", { replicas: 5 })] };

/** A user deletes the pod while the step that creates it goes on. It is on no node yet, so it is gone at once. */
const goneAtBirth = (name: string): UserAction => ({
  ...remove(
    name,
    ({ type, table, object }) => {
      return type === "ADDED" && table === "pods" && object.metadata.name === `pi-${name}`;
    },
    4,
  ),
  during: true,
});

export const refusals: readonly Scenario[] = [
  job({
    name: "job-evicted-at-birth",
    what: "its first pod is gone before the first record is saved: the policy restarts the task, and the job completes",
    spec: { policies: [policy("PodEvicted", "RestartTask")] },
    lives: living({ "*": [{ runMs: 40_000 }] }),
    userActions: [goneAtBirth("master-0")],
    ends: "Completed",
  }),
  job({
    name: "job-evicted-at-birth-abort",
    what: "one of two workers is gone before the first record is saved: the policy aborts the job",
    spec: { policies: [policy("PodEvicted", "AbortJob")] },
    lives: living({ "*": [long] }),
    userActions: [goneAtBirth("worker-1")],
    // No trace of the pod is left by a death, or a refusal, between the server's answer and the save: see decision 47.
    without: ["crash-after", "409"],
    ends: "Aborted",
  }),
  job({
    name: "job-evicted-at-growth",
    what: "a user adds a worker to the job and to its minimum, and the pod is gone at once: the policy aborts the job",
    spec: { policies: [policy("PodEvicted", "AbortJob")] },
    lives: living({ "*": [long] }),
    userActions: [
      {
        says: "kubectl scale",
        when: runningIs(3),
        afterMs: 1_000,
        do: { type: "patch", spec: { minAvailable: 4, tasks: [master, { ...workers, replicas: 3 }] } },
      },
      goneAtBirth("worker-2"),
    ],
    without: ["crash-after", "409"],
    ends: "Aborted",
  }),
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
