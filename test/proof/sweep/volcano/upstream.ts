/** Bugs of Volcano's controller, by their numbers in the catalogue: each is a scenario that must go well. */
import { textAt } from "../fields.ts";
import { appName, type Scenario, type UserAction } from "../scenario.ts";
import {
  applied,
  done,
  fails,
  job,
  kill,
  living,
  long,
  podIs,
  podRuns,
  policy,
  remove,
  slowly,
  succeededIs,
} from "./jobs.ts";

const restarts = [policy("PodFailed", "RestartJob")];
/** The status says that a pod cannot be created. */
const isRefused: UserAction["when"] = ({ table, object }) =>
  table === "jobs.batch.volcano.sh" && textAt(object, "status", "state", "reason") === "FailedCreate";
const deafFor = (ms: number) => ({ type: "unhear", ms }) as const;

export const volcanoBugs: readonly Scenario[] = [
  job({
    name: "U18-older-list",
    upstream: "U18 SPARK-36334",
    what: "lists are of an earlier state: what is missing in one has not been evicted",
    spec: { policies: [policy("PodEvicted", "AbortJob")] },
    lives: living({ "*": [{ runMs: 8_000 }] }),
    ends: "Completed",
    also: ["stale"],
  }),
  job({
    name: "U19-slow-to-end",
    upstream: "U19 SPARK-37856",
    what: "the pods of the version before take 5 s to end, and none of them lives on beside the next",
    spec: { policies: restarts },
    scripts: { "*": [{ stopMs: 5_000 }] },
    lives: living({ "worker-1": [fails, done], "*": [long, done] }),
    ends: "Completed",
    breadth: "thin",
  }),
  job({
    name: "U20-failed-unheard",
    upstream: "U20 volcano#3967",
    what: "a pod fails while nobody listens, and the policy for it is kept when somebody does",
    spec: { policies: restarts },
    lives: living({ "*": [long, done] }),
    userActions: [
      { says: "the watch breaks", when: podRuns("worker-1"), afterMs: 500, do: deafFor(8_000) },
      kill("worker-1", 3, podRuns("worker-1"), 1_500),
      { says: "a restart", when: podIs("worker-1", "Failed"), afterMs: 2_000, do: { type: "restart" } },
    ],
    ends: "Completed",
    also: ["gap", "host-crash-after"],
  }),
  job({
    name: "U21-deleted-at-birth",
    upstream: "U21 volcano#3357, #3601",
    what: "deleted while its pods are being made",
    spec: { plugins: { svc: [] } },
    lives: living({ "*": [long] }),
    userActions: [
      {
        says: "kubectl delete",
        when: ({ type, table, object }) =>
          type === "ADDED" && table === "pods" && object.metadata.name === "pi-master-0",
        afterMs: 4,
        during: true,
        do: { type: "delete" },
      },
    ],
    ends: "gone",
  }),
  job({
    name: "U22-same-name",
    upstream: "U22 volcano#5986, #3746",
    what: "pods of a deleted job end while the next of its name runs, and one of them fails by it",
    spec: { policies: [policy("PodFailed", "AbortJob"), policy("PodEvicted", "AbortJob")] },
    scripts: { "*": [{ stopMs: 2_000 }] },
    lives: living({ "*": [{ runMs: 8_000 }] }),
    userActions: [
      { says: "kubectl delete", when: podRuns("worker-1"), afterMs: 1_500, do: { type: "delete" } },
      { says: "kubectl apply", when: podRuns("worker-1"), afterMs: 1_600, do: { type: "apply" } },
    ],
    ends: "Completed",
    breadth: "thin",
  }),
  job({
    name: "U23-called-thrice",
    upstream: "U23 volcano#385",
    what: "three calls for a step come at once when the job is new, and again when its first pod is",
    userActions: [
      { says: "POST /reconcile", when: applied, afterMs: 0, do: { type: "trigger", times: 3 } },
      { says: "POST /reconcile", when: podIs("master-0", "Pending"), afterMs: 0, do: { type: "trigger", times: 3 } },
    ],
    lives: living({ "*": [long] }),
    // Also who comes when all run makes nothing.
    ends: "Running",
    also: ["stale"],
  }),
  job({
    name: "U24-no-late-eviction",
    upstream: "U24 volcano#1241",
    what: "deleted and applied again: the end of the old pods is no eviction of the new job's",
    spec: { maxRetry: 1, policies: [policy("PodEvicted", "RestartJob")] },
    scripts: { "*": [{ stopMs: 2_000 }] },
    lives: living({ "*": [{ runMs: 8_000 }] }),
    userActions: [
      { says: "kubectl delete", when: podRuns("worker-1"), afterMs: 1_000, do: { type: "delete" } },
      { says: "kubectl apply", when: podRuns("worker-1"), afterMs: 1_100, do: { type: "apply" } },
    ],
    ends: "Completed",
  }),
  job({
    name: "U25-group-kept",
    upstream: "U25 volcano#5385, #4743, #4814, #1866",
    what: "a task is restarted, and the job's group stays, so that its pods come at once",
    spec: { policies: [policy("PodFailed", "RestartTask")] },
    lives: living({ "worker-1": [fails, done], "worker-0": [long, done], "*": [{ runMs: 20_000 }] }),
    ends: "Completed",
    also: ["timeout-applied", "pause-12s"],
  }),
  job({
    name: "U26-timer",
    upstream: "U26 volcano delayActionMap",
    what: "everything restarts while an action waits for its time, and it is taken in time",
    spec: { policies: [policy("PodFailed", "RestartJob", { timeout: "60s" })] },
    lives: living({ "worker-1": [fails, done], "*": [long, done] }),
    userActions: [{ says: "a restart", when: podIs("worker-1", "Failed"), afterMs: 20_000, do: { type: "restart" } }],
    ends: "Completed",
    also: ["host-crash-after"],
  }),
  job({
    name: "U27-trouble",
    upstream: "U27 volcano#1029",
    what: "a pod is refused, for its name is taken, and the API is in trouble for longer than upstream would bear it: the job goes on",
    lives: living({ "*": [{ runMs: 8_000 }] }),
    strangers: [`${appName}-worker-1`],
    userActions: [remove("worker-1", isRefused)],
    ends: "Completed",
    also: ["outage-20m", "quota-5m", "500", "403", "422"],
  }),
  job({
    name: "U28-done-and-removed",
    upstream: "U28 volcano#791, #1651",
    what: "a user deletes a pod that has succeeded: it is not run again, and counts as what it was",
    lives: living({ "worker-1": [done], "*": [slowly] }),
    userActions: [remove("worker-1", succeededIs(1))],
    ends: "Completed",
  }),
  job({
    name: "U29-conditions",
    upstream: "U29 volcano#5422",
    what: "it is restarted again and again, and its conditions do not grow",
    spec: { maxRetry: 6, policies: restarts },
    lives: living({ "worker-1": [fails, fails, fails, fails, done], "*": [long, long, long, long, done] }),
    ends: "Completed",
  }),
];
