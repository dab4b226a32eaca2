/** Bugs of the Spark operator, by their numbers in the catalogue: each is a scenario that must go well. */

import type { Change } from "../../../shared/simulator/storage/store.ts";
import { appName, base, driverRuns, executorRuns, isDriver, type Scenario, stateIs } from "./scenario.ts";

const appears =
  (table: string) =>
  (change: Change): boolean =>
    change.type === "ADDED" && change.table === table;

const driverAppears = (change: Change): boolean => appears("pods")(change) && isDriver(change);

const relabel = (says: string, when: (change: Change) => boolean): Scenario["userActions"][number] => ({
  says,
  when,
  afterMs: 1,
  during: true,
  do: { type: "annotate", annotations: { [`example.com/${says.replaceAll(" ", "-")}`]: "yes" } },
});

const rerun = { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } as const;

export const upstreamBugs: readonly Scenario[] = [
  {
    name: "U1-unwritten",
    upstream: "U1 kubeflow#2788",
    what: "the operator died between its submission and the status: its driver runs, and nothing says so",
    spec: base,
    scripts: { [appName]: [{ jobMs: 3_000 }] },
    userActions: [],
    left: { driver: `${appName}-driver` },
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U3-called-thrice",
    upstream: "U3 kubeflow#2573",
    what: "three calls for a step come at once when the application is new, and again when its driver is",
    spec: base,
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    userActions: [
      {
        says: "POST /reconcile",
        when: appears("sparkapplications.sparkoperator.k8s.io"),
        afterMs: 0,
        do: { type: "trigger", times: 3 },
      },
      { says: "POST /reconcile", when: driverAppears, afterMs: 0, do: { type: "trigger", times: 3 } },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U6-restarted",
    upstream: "U6 stackable#457, kubeflow#1709",
    what: "everything restarts while it runs, and again when it has ended",
    spec: base,
    scripts: { [appName]: [{ jobMs: 4_000 }] },
    userActions: [
      { says: "a restart", when: driverRuns, afterMs: 1_000, do: { type: "restart" } },
      { says: "a restart", when: stateIs("COMPLETED"), afterMs: 30_000, do: { type: "restart" } },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U7-unheard",
    upstream: "U7 kubeflow#2749, #2750",
    what: "nobody hears of its pods from the driver's creation until long after the driver runs",
    spec: base,
    scripts: { [appName]: [{ jobMs: 30_000 }] },
    userActions: [{ says: "the watch breaks", when: driverAppears, afterMs: 0, do: { type: "unhear", ms: 20_000 } }],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U8-slow-to-end",
    upstream: "U8 kubeflow#2283, #1191",
    what: "its old driver takes 5 s to end after a change of the spec",
    spec: base,
    scripts: { [appName]: [{ hangs: true, stopMs: 5_000 }, { jobMs: 2_000 }] },
    userActions: [
      {
        says: "kubectl patch: other arguments",
        when: executorRuns,
        afterMs: 1_000,
        do: { type: "patch", spec: { arguments: ["2000"] } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U8-unseen-to-end",
    upstream: "U8 kubeflow#2658",
    what: "its spec changes before anybody has seen its driver, whose executors take 25 s to end",
    spec: base,
    scripts: { [appName]: [{ hangs: true, executors: { "*": { stopMs: 25_000 } } }, { jobMs: 2_000 }] },
    userActions: [
      { says: "the watch breaks", when: driverAppears, afterMs: 0, do: { type: "unhear", ms: 20_000 } },
      {
        says: "kubectl patch: other arguments",
        when: executorRuns,
        afterMs: 1_000,
        do: { type: "patch", spec: { arguments: ["2000"] } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U9-never-starts",
    upstream: "U9 kubeflow#2872",
    what: "its driver's image cannot be pulled, until the user names another",
    spec: base,
    scripts: { [appName]: [{ pull: "fails" }, { jobMs: 2_000 }] },
    userActions: [
      {
        says: "kubectl patch: another image",
        when: driverAppears,
        afterMs: 600_000,
        do: { type: "patch", spec: { image: "docker.io/apache/spark:4.1.1-java17" } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U12-deleted-at-birth",
    upstream: "U12 kubeflow#2961, #2492, #2803",
    what: "deleted while its driver is being submitted",
    spec: base,
    scripts: { [appName]: [{ hangs: true }] },
    userActions: [
      {
        says: "kubectl delete",
        when: appears("checkpoints.rekindle.dev"),
        afterMs: 4,
        during: true,
        do: { type: "delete" },
      },
    ],
    ends: "gone",
    breadth: "part",
  },
  {
    name: "U13-second-attempt",
    upstream: "U13 kubeflow#2767, #2118",
    what: "the first attempt fails with its executors, and nothing of it is told of the second",
    spec: { ...base, restartPolicy: rerun },
    scripts: { [appName]: [{ jobMs: 2_000, exitCode: 1 }, { jobMs: 6_000 }] },
    userActions: [],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U14-conflicts",
    upstream: "U14 kubeflow#3184",
    what: "somebody writes the object each time when its status is about to be written",
    spec: base,
    scripts: { [appName]: [{ jobMs: 3_000 }] },
    userActions: [
      relabel("at its record", appears("checkpoints.rekindle.dev")),
      relabel("at its driver", driverAppears),
      relabel("when its driver runs", driverRuns),
      relabel("when it is told to be done", stateIs("COMPLETED")),
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "U17-watch-gone",
    upstream: "U17 SPARK-33349, kubeflow#188",
    what: "an executor dies and is replaced while the watch is too old to go on",
    spec: base,
    scripts: { [appName]: [{ jobMs: 20_000 }] },
    userActions: [
      { says: "the watch breaks", when: executorRuns, afterMs: 500, do: { type: "unhear", ms: 6_000 } },
      {
        says: "an executor dies",
        when: executorRuns,
        afterMs: 1_500,
        do: { type: "kill", pod: /-exec-1$/, code: 137 },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
];
