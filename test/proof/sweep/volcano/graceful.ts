/**
 * Servers that end with 0 on SIGTERM. Kubelets write `Succeeded` for them while their pods are being deleted, also long
 * before the removal where a finalizer holds them: drained, resized and suspended pods never count as finished. The
 * same holds where their node is about to go.
 */
import { appName, namespace, type Scenario, type UserAction } from "../scenario.ts";
import { command } from "./commands.ts";
import { job, living, long, master, phaseIs, podIs, policy, remove, runningIs, slowly, workers } from "./jobs.ts";

const graceful = { "*": [{ stopCode: 0, stopMs: 2_000 }] };

const finalizers = (
  name: string,
  value: readonly string[] | null,
  says: string,
  when: UserAction["when"],
  afterMs = value === null ? 5_000 : 200,
): UserAction => ({
  says,
  when,
  afterMs,
  do: {
    type: "write",
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}/pods/${appName}-${name}`,
    body: { metadata: { finalizers: value } },
  },
});

const resized = (replicas: number, says: string, afterMs: number): UserAction => ({
  says,
  when: runningIs(3),
  afterMs,
  do: { type: "patch", spec: { minAvailable: 1, tasks: [master, { ...workers, replicas }] } },
});

export const gracefully: readonly Scenario[] = [
  job({
    name: "job-drained",
    what: "servers that end with 0 are drained one after another: each comes again, and the job lacks nobody",
    scripts: graceful,
    lives: living({ "*": [slowly] }),
    userActions: [remove("worker-1", runningIs(3)), remove("master-0", runningIs(3), 1_500)],
    ends: "Completed",
    also: ["host-crash-after"],
  }),
  job({
    name: "job-drained-policy",
    what: "a drained server ends with 0, and the policy for evictions restarts the job",
    spec: { policies: [policy("PodEvicted", "RestartJob")] },
    scripts: graceful,
    lives: living({ "*": [long, slowly] }),
    userActions: [remove("worker-1", runningIs(3))],
    ends: "Completed",
    also: ["stale"],
  }),
  job({
    name: "job-drained-held",
    what: "a drained server ends with 0, and its pod is held by a finalizer for a while: it is not done meanwhile",
    spec: {
      tasks: [
        master,
        { ...workers, policies: [policy("PodEvicted", "RestartPod"), policy("TaskCompleted", "CompleteJob")] },
      ],
    },
    scripts: graceful,
    lives: living({ "*": [slowly] }),
    userActions: [
      finalizers("worker-1", ["example.com/held"], "a controller holds the pod", runningIs(3)),
      remove("worker-1", runningIs(3)),
      finalizers("worker-1", null, "the controller lets it go", podIs("worker-1", "Succeeded")),
    ],
    ends: "Completed",
    also: ["host-crash-after"],
  }),
  job({
    name: "job-drained-removed-late",
    what: "a drained server ends with 0 and its kubelet removes it seconds later; a finalizer holds the pod for minutes",
    spec: { minAvailable: 1, tasks: [master, { ...workers, policies: [policy("TaskCompleted", "CompleteJob")] }] },
    scripts: { "*": [{ stopCode: 0, stopMs: 2_000, removeMs: 4_000 }] },
    lives: living({ "*": [slowly] }),
    userActions: [
      finalizers("worker-1", ["example.com/held"], "a controller holds the pod", runningIs(3)),
      remove("worker-1", runningIs(3)),
      finalizers("worker-1", null, "the controller lets it go", podIs("worker-1", "Succeeded"), 150_000),
    ],
    ends: "Completed",
    also: ["host-crash-after"],
  }),
  job({
    name: "job-resized-at-once",
    what: "its workers are scaled to none and back within 300 ms: those that end with 0 come again, and were not evicted",
    spec: { minAvailable: 1, policies: [policy("PodEvicted", "AbortJob")] },
    scripts: graceful,
    lives: living({ "*": [slowly] }),
    userActions: [resized(0, "kubectl scale, to none", 1_000), resized(2, "kubectl scale, back", 1_300)],
    ends: "Completed",
    also: ["stale"],
  }),
  job({
    name: "job-resumed-servers",
    what: "servers that end with 0 are aborted and resumed: all of them come again",
    scripts: graceful,
    lives: living({ "*": [long, slowly] }),
    userActions: [command("AbortJob", runningIs(3)), command("ResumeJob", phaseIs("Aborted"), 30_000)],
    ends: "Completed",
  }),
  job({
    name: "job-node-leaves",
    what: "a node is cordoned and said to go: its workers are evicted at once and come again elsewhere; the master, which has no policy for that, runs on",
    annotations: { "rekindle.dev/leaving-nodes": "evict" },
    spec: { tasks: [master, { ...workers, policies: [policy("PodEvicted", "RestartTask")] }] },
    scripts: graceful,
    lives: living({ "worker-1": [long, slowly], "*": [slowly] }),
    machines: ["node-1", "node-2", "node-3"],
    userActions: [
      {
        says: "kubectl cordon, as termination handlers do before they say that a node goes",
        when: runningIs(3),
        afterMs: 900,
        do: { type: "write", method: "PATCH", path: "/api/v1/nodes/node-1", body: { spec: { unschedulable: true } } },
      },
      {
        says: "a machine is said to go",
        when: runningIs(3),
        afterMs: 1_000,
        do: { type: "leaving", pod: /^pi-worker-1$/ },
      },
    ],
    ends: "Completed",
    also: ["host-crash-after"],
  }),
];
