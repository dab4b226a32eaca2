/** Further courses of an application beside those that are swept whole: starts, interruptions, upgrades and ends. */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { startOf, textAt } from "./fields.ts";
import { connect, connectSpec } from "./recoveries.ts";
import { appName, base, driverRuns, executorRuns, type Scenario, stateIs } from "./scenario.ts";

const rerun = { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } as const;
const otherDigest = "0".repeat(64);

const isMade =
  (role: "driver" | "server") =>
  ({ type, table, object }: Change): boolean =>
    type === "ADDED" && table === "pods" && object.metadata.name === `${appName}-${role}`;

/** True when the record shows a refused submission: its status may come after the next one. */
const isRefused = ({ table, object }: Change): boolean =>
  table.startsWith("checkpoints") && textAt(object, "spec", "memory", "state", "phase") === "SUBMISSION_FAILED";

export const lives: readonly Scenario[] = [
  {
    name: "unplaced",
    what: "nobody runs the scheduler that its driver names, a warning says so, and its user names another one",
    spec: { ...base, driver: { ...base.driver, schedulerName: "gangs" } },
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    userActions: [
      {
        says: "kubectl patch: the scheduler that runs",
        when: isMade("driver"),
        afterMs: 600_000,
        do: { type: "patch", spec: { driver: { schedulerName: "default-scheduler" } } },
      },
    ],
    ends: "COMPLETED",
    tells: "PodNotStarting",
    breadth: "thin",
  },
  connect({
    name: "connect-unplaced",
    what: "nobody runs the scheduler that a Connect server names, a warning says so, and its user names another one",
    spec: { ...connectSpec, server: { template: { spec: { schedulerName: "gangs" } } } },
    userActions: [
      {
        says: "kubectl patch: the scheduler that runs",
        when: isMade("server"),
        afterMs: 600_000,
        do: { type: "patch", spec: { server: { template: { spec: { schedulerName: "default-scheduler" } } } } },
      },
      {
        says: "kubectl delete pod",
        when: isMade("server"),
        afterMs: 602_000,
        do: { type: "remove", pod: `${appName}-server` },
      },
    ],
    ends: "Ready",
    tells: "PodNotStarting",
    breadth: "thin",
  }),
  connect({
    name: "connect-idle",
    what: "its user allows it more time without tasks; tasks run again when that is almost over, its REST API is silent, and it is deleted",
    annotations: { "rekindle.dev/delete-when-idle": "1m" },
    scripts: {
      [`${appName}-server`]: [
        {
          tasks: [
            [0, { running: 2, ended: 0 }],
            [60_000, { running: 0, ended: 3 }],
            [185_000, { running: 1, ended: 3 }],
            [230_000, { running: 0, ended: 4 }],
            [260_000, "silent"],
            [280_000, { running: 0, ended: 4 }],
          ],
        },
      ],
    },
    userActions: [
      {
        says: "kubectl annotate: two minutes",
        when: ({ table, object }) =>
          table === "pods" && object.metadata.name === `${appName}-server` && startOf(object) !== undefined,
        afterMs: 40_000,
        do: { type: "annotate", annotations: { "rekindle.dev/delete-when-idle": "2m" } },
      },
    ],
    ends: "gone",
    tells: "SparkConnectIdle",
    also: ["stale", "deaf"],
    without: ["pause-600s", "frozen"],
    breadth: "thin",
  }),
  {
    name: "upgrade",
    what: "a step's successor is of a newer version: the record's spec was normalised by the one before",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    userActions: [
      {
        says: "the record is one of version N-1",
        when: executorRuns,
        afterMs: 1_000,
        do: { type: "record", spec: { memory: { normaliser: 0, spec: otherDigest } } },
      },
      {
        says: "kubectl annotate",
        when: executorRuns,
        afterMs: 2_000,
        do: { type: "annotate", annotations: { "example.com/upgraded": "yes" } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "rollback",
    what: "a step's successor is of an older version: the record has fields and digests that it does not know",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    userActions: [
      {
        says: "the record is one of version N+1",
        when: executorRuns,
        afterMs: 1_000,
        do: { type: "record", spec: { memory: { normaliser: 99, spec: otherDigest, invented: { later: true } } } },
      },
      {
        says: "kubectl patch: a time to live, which is nothing that a run depends on",
        when: executorRuns,
        afterMs: 2_000,
        do: { type: "patch", spec: { timeToLiveSeconds: 86_400 } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "executors-kept",
    what: "its executors stay when they end: nothing but the event of the driver tells of the last change",
    spec: { ...base, executor: { ...base.executor, deleteOnTermination: false } },
    scripts: { [appName]: [{ jobMs: 70_000 }] },
    userActions: [],
    ends: "COMPLETED",
    breadth: "sparse",
    also: ["overtaken-7000ms"],
  },
  {
    name: "expiry",
    what: "its time to live is over",
    spec: { ...base, timeToLiveSeconds: 30 },
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    userActions: [],
    ends: "gone",
    breadth: "thin",
  },
  {
    name: "asleep",
    what: "born suspended, as Kueue's, and resumed",
    spec: { ...base, suspend: true },
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    userActions: [
      {
        says: "resumed, with a node selector in the same patch",
        when: stateIs("SUSPENDED"),
        afterMs: 20_000,
        do: { type: "patch", spec: { suspend: false, nodeSelector: { "kubernetes.io/os": "linux" } } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "kueued",
    what: "in a queue of Kueue, born suspended; a stranger's pod has the driver's name at the first submission",
    spec: {
      ...{ ...base, suspend: true },
      restartPolicy: { type: "OnFailure", onSubmissionFailureRetries: 2, onSubmissionFailureRetryInterval: 60 },
    },
    labels: { "kueue.x-k8s.io/queue-name": "team-a" },
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    strangers: [`${appName}-driver`],
    userActions: [
      {
        says: "Kueue starts it, with a node selector in the same patch",
        when: stateIs("SUSPENDED"),
        afterMs: 1_000,
        do: { type: "patch", spec: { suspend: false, nodeSelector: { "kubernetes.io/os": "linux" } } },
      },
      {
        says: "the pod in the way is deleted",
        when: isRefused,
        afterMs: 1_000,
        do: { type: "remove", pod: `${appName}-driver` },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "always",
    what: "runs again whenever it ends, until it is deleted",
    spec: { ...base, restartPolicy: { type: "Always" } },
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    userActions: [{ says: "kubectl delete", when: driverRuns, afterMs: 28_000, do: { type: "delete" } }],
    ends: "gone",
    breadth: "thin",
  },
  {
    name: "driver-deleted",
    what: "a user deletes its driver's pod, and it is tried again",
    spec: { ...base, restartPolicy: rerun },
    scripts: { [appName]: [{ hangs: true }, { jobMs: 2_000 }] },
    userActions: [
      {
        says: "kubectl delete pod",
        when: executorRuns,
        afterMs: 1_000,
        do: { type: "remove", pod: `${appName}-driver` },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "driver-evicted",
    what: "its driver is evicted, and it is tried again",
    spec: { ...base, restartPolicy: rerun },
    scripts: { [appName]: [{ hangs: true }, { jobMs: 2_000 }] },
    userActions: [
      {
        says: "an eviction",
        when: executorRuns,
        afterMs: 1_000,
        do: { type: "evict", pod: new RegExp(`^${appName}-driver$`) },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
  {
    name: "mended",
    what: "its spec is mended while it waits for the next try",
    spec: { ...base, restartPolicy: { ...rerun, onFailureRetryInterval: 7_200 } },
    scripts: { [appName]: [{ jobMs: 1_000, exitCode: 1 }, { jobMs: 2_000 }] },
    userActions: [
      {
        says: "kubectl patch: other arguments",
        when: stateIs("FAILING"),
        afterMs: 20_000,
        do: { type: "patch", spec: { arguments: ["2000"] } },
      },
    ],
    ends: "COMPLETED",
    breadth: "thin",
  },
];
