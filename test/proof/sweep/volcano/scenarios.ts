/** The scenarios of the Volcano family: every level of policies, and the courses and ends of jobs. */
import { hostedOf } from "../hosted.ts";
import type { Scenario } from "../scenario.ts";
import { commands } from "./commands.ts";
import { forwarding } from "./forwarding.ts";
import { gracefully } from "./graceful.ts";
import {
  applied,
  done,
  fails,
  job,
  living,
  long,
  master,
  phaseIs,
  plugins,
  podIs,
  podRuns,
  podRunsIn,
  policy,
  remove,
  runningIs,
  slowly,
  task,
  workers,
} from "./jobs.ts";
import { refusals } from "./refusals.ts";
import { timers } from "./timers.ts";
import { volcanoBugs } from "./upstream.ts";
import { wishes } from "./wishes.ts";

const worker1Fails = living({ "worker-1": [fails, done], "*": [long, done] });

const withPolicies = (policies: readonly object[]): object => ({ ...workers, policies });

const policies: readonly Scenario[] = [
  job({
    name: "job-restart-job",
    what: "a pod fails, and the job's policy restarts the job: all pods come again, with the keys that they had",
    spec: { plugins, policies: [policy("PodFailed", "RestartJob")] },
    lives: worker1Fails,
    ends: "Completed",
    breadth: "thin",
  }),
  job({
    name: "job-restart-task",
    what: "a pod fails, and its task's policy restarts the task: the master runs on",
    spec: {
      plugins: { svc: [] },
      tasks: [master, withPolicies([policy("PodFailed", "RestartTask")])],
      policies: [policy("PodFailed", "AbortJob")],
    },
    lives: living({ "worker-1": [fails, done], "master-0": [{ runMs: 20_000 }], "*": [done] }),
    ends: "Completed",
  }),
  job({
    name: "job-restart-pod",
    what: "a pod fails, and it alone is restarted",
    spec: { plugins, policies: [policy("PodFailed", "RestartPod")] },
    lives: living({ "worker-1": [fails, done], "*": [{ runMs: 20_000 }] }),
    ends: "Completed",
    breadth: "thin",
  }),
  job({
    name: "job-restart-partition",
    what: "a pod fails, and the partition that it is of is restarted, and no other",
    spec: {
      tasks: [
        task(
          "worker",
          { replicas: 4 },
          {
            partitionPolicy: { totalPartitions: 2, partitionSize: 2 },
            policies: [policy("PodFailed", "RestartPartition")],
          },
        ),
      ],
    },
    lives: living({ "worker-3": [fails, done], "*": [{ runMs: 20_000 }] }),
    ends: "Completed",
  }),
  job({
    name: "job-exit-code",
    what: "the second container of a pod ends with the code that a policy names",
    spec: {
      tasks: [master, task("worker", { containers: ["main", "side"] })],
      policies: [{ exitCode: 42, action: "TerminateJob" }, policy("PodFailed", "RestartJob")],
    },
    lives: living({ "worker-0": [{ runMs: 2_000, codes: { main: 0, side: 42 } }], "*": [long] }),
    ends: "Terminated",
  }),
  job({
    name: "job-task-completed",
    what: "the master's task completes, which completes the job, though its workers never end",
    spec: { tasks: [{ ...master, policies: [policy("TaskCompleted", "CompleteJob")] }, workers] },
    lives: living({ "master-0": [done], "*": [{}] }),
    ends: "Completed",
  }),
  job({
    name: "job-task-failed",
    what: "containers of a task are started again too often, which aborts the job",
    spec: {
      tasks: [
        master,
        task("worker", { restartPolicy: "OnFailure" }, { maxRetry: 2, policies: [policy("TaskFailed", "AbortJob")] }),
      ],
    },
    lives: living({ "worker-0": [fails], "*": [{}] }),
    ends: "Aborted",
  }),
  job({
    name: "job-unknown",
    what: "the scheduler loses the group, which restarts the job, and loses that of the second version, too",
    spec: { policies: [policy("Unknown", "RestartJob")] },
    lives: living({ "*": [long, long, done] }),
    userActions: [
      { says: "the group is lost", when: podRuns("worker-1"), afterMs: 2_000, do: { type: "group", phase: "Unknown" } },
      {
        says: "it is lost again",
        when: podRunsIn("worker-1", "1"),
        afterMs: 2_000,
        do: { type: "group", phase: "Unknown" },
      },
    ],
    ends: "Completed",
  }),
  job({
    name: "job-removed",
    what: "a user deletes a pod, and the policy for evictions restarts its task",
    spec: { tasks: [master, withPolicies([policy("PodEvicted", "RestartTask")])] },
    lives: living({ "worker-0": [long, done], "worker-1": [long, done], "*": [slowly] }),
    userActions: [remove("worker-1", runningIs(3))],
    ends: "Completed",
  }),
  job({
    name: "job-evicted",
    what: "a kubelet evicts a pod, which fails by it, and it is restarted",
    spec: { policies: [policy("PodFailed", "RestartPod")] },
    lives: living({ "worker-1": [long, done], "*": [{ runMs: 20_000 }] }),
    userActions: [
      { says: "an eviction", when: podRuns("worker-1"), afterMs: 1_000, do: { type: "evict", pod: /^pi-worker-1$/ } },
    ],
    ends: "Completed",
  }),
  job({
    name: "job-without-policy",
    what: "a user deletes a pod, and nothing but another pod comes of it",
    lives: living({ "*": [slowly] }),
    userActions: [remove("worker-1", runningIs(3))],
    ends: "Completed",
  }),
];

const resized = (replicas: number): object => ({ minAvailable: 2, tasks: [master, { ...workers, replicas }] });

const shapes: readonly Scenario[] = [
  job({
    name: "job-completion",
    what: "a job of two tasks runs to its end, and nothing but its pods is left",
    spec: { plugins },
    ends: "Completed",
    breadth: "thin",
  }),
  job({
    name: "job-scale-up",
    what: "its replicas grow while it runs, and its pods are told of the new hosts",
    spec: { ...resized(1), plugins: { svc: [] } },
    lives: living({ "*": [slowly] }),
    userActions: [
      {
        says: "kubectl scale",
        when: phaseIs("Running"),
        afterMs: 2_000,
        do: { type: "patch", spec: { ...resized(3) } },
      },
    ],
    ends: "Completed",
  }),
  job({
    name: "job-scale-down",
    what: "its replicas shrink while it runs, which is nobody's eviction",
    spec: { ...resized(3), plugins: { svc: [] }, policies: [policy("PodEvicted", "AbortJob")] },
    // Beyond a resync, which finds the smaller size if its message was lost.
    lives: living({ "*": [{ runMs: 400_000 }] }),
    userActions: [
      {
        says: "kubectl scale",
        when: podRuns("worker-2"),
        afterMs: 2_000,
        do: { type: "patch", spec: { ...resized(1) } },
      },
    ],
    ends: "Completed",
  }),
  job({
    name: "job-depends",
    what: "its workers come after its master, and its last task after any of them",
    spec: {
      minAvailable: 1,
      tasks: [
        task("master", {}, { minAvailable: 1 }),
        task("worker", { replicas: 2 }, { minAvailable: 2, dependsOn: { name: ["master"] } }),
        task("last", {}, { minAvailable: 1, dependsOn: { name: ["worker", "master"], iteration: "any" } }),
      ],
    },
    lives: living({ "*": [{ runMs: 8_000 }] }),
    ends: "Completed",
  }),
  job({
    name: "job-min-success",
    what: "as many pods succeed as it needs, and those that never end are ended",
    spec: { minAvailable: 1, minSuccess: 2 },
    lives: living({ "worker-1": [{}], "*": [done] }),
    ends: "Completed",
  }),
  job({
    name: "job-retries",
    what: "it fails again and again, until its retries are spent; what the last one left is kept",
    spec: { maxRetry: 2, policies: [policy("PodFailed", "RestartJob")] },
    lives: living({ "worker-1": [fails], "*": [long] }),
    ends: "Failed",
  }),
  job({
    name: "job-fails",
    what: "a pod fails, nothing is said about that, and the job has failed when the others are done",
    lives: living({ "worker-1": [fails], "*": [done] }),
    ends: "Failed",
  }),
  job({
    name: "job-deletion",
    what: "deleted while it runs",
    spec: { plugins },
    lives: living({ "*": [long] }),
    userActions: [{ says: "kubectl delete", when: podRuns("worker-1"), afterMs: 1_500, do: { type: "delete" } }],
    ends: "gone",
  }),
  job({
    name: "job-again",
    what: "deleted while it runs, and applied again under its name while its pods still end",
    spec: { plugins: { svc: [] } },
    scripts: { "*": [{ stopMs: 2_000 }] },
    lives: living({ "*": [{ runMs: 8_000 }] }),
    userActions: [
      { says: "kubectl delete", when: podRuns("worker-1"), afterMs: 1_500, do: { type: "delete" } },
      { says: "kubectl apply", when: podRuns("worker-1"), afterMs: 2_500, do: { type: "apply" } },
    ],
    ends: "Completed",
  }),
  job({
    name: "job-volumes",
    what: "its pods share a claim that is made for it, under a name that it is given",
    spec: {
      volumes: [
        {
          mountPath: "/data",
          volumeClaim: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
      policies: [policy("PodFailed", "RestartJob")],
    },
    lives: living({ "worker-1": [fails, done], "*": [long, done] }),
    ends: "Completed",
  }),
  job({
    name: "job-queue-missing",
    what: "its queue is made only after a while",
    spec: { queue: "late" },
    userActions: [
      {
        says: "the queue is made",
        when: applied,
        afterMs: 20_000,
        do: { type: "queue", queue: "late", state: "Open" },
      },
    ],
    ends: "Completed",
  }),
  job({
    name: "job-gang-here",
    what: "nobody keeps Volcano's scheduler's lease: its group is let in here, and again after a restart",
    gang: "here",
    spec: { policies: [policy("PodFailed", "RestartJob")] },
    lives: worker1Fails,
    ends: "Completed",
  }),
  job({
    name: "job-queue-closed",
    what: "its queue is closed while it runs, which is no harm to it",
    spec: { policies: [policy("PodFailed", "RestartPod")] },
    lives: living({ "worker-1": [fails, done], "*": [{ runMs: 20_000 }] }),
    userActions: [
      {
        says: "the queue closes",
        when: podIs("worker-0", "Running"),
        afterMs: 500,
        do: { type: "queue", queue: "default", state: "Closing" },
      },
    ],
    ends: "Completed",
  }),
];

const all = [shapes, [forwarding], policies, timers, wishes, commands, refusals, gracefully, volcanoBugs].flat();
/** Scenarios that depend most on the last observation. */
const told = [
  "job-completion",
  "job-scale-down",
  "job-restart-job",
  "job-restart-pod",
  "job-removed",
  "job-drained",
  "job-resized-at-once",
  "job-suspend-resume",
  "job-abort-restarting",
];

export const volcano: readonly Scenario[] = [...all, ...hostedOf(all, told)];
