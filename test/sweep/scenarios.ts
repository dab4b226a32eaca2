/** What runs: an application, how its pods fare, and what users do to it on the way. All in data. */

import type { Scripts } from "../../shared/simulator/script.ts";
import type { Change } from "../../shared/simulator/store.ts";
import { textAt } from "./fields.ts";
import type { SweptName } from "./kinds.ts";

/** Something that happens once, so long after a change of the world that it waits for. */
export type Act = {
  readonly says: string;
  readonly when: (change: Change) => boolean;
  readonly afterMs: number;
  readonly do:
    | { readonly act: "delete" }
    | { readonly act: "patch"; readonly spec: Readonly<Record<string, unknown>> }
    | { readonly act: "kill"; readonly pod: RegExp; readonly code: number }
    | { readonly act: "remove"; readonly pod: string };
};

export type Scenario = {
  readonly name: string;
  /** What the application under test is; a SparkApplication unless it says so. */
  readonly kind?: SweptName;
  readonly what: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly scripts: Scripts;
  readonly acts: readonly Act[];
  /** Pods of somebody else that stand from the beginning. */
  readonly strangers?: readonly string[];
  /** The state that it ends in when nothing goes wrong; "gone" when the application is deleted. */
  readonly ends: string;
  /** Families of faults that outlast its own times: what they change is meant. */
  readonly without?: readonly string[];
  /** Everything everywhere, or of what others show already only a part: see `cases.ts`. */
  readonly breadth: "whole" | "part";
};

/** The application under test, and a namesake's that nobody may touch. */
export const appName = "pi";
export const namespace = "default";

/** Secrets of the manifest: they belong into the driver's pod and conf, and nowhere else. */
export const canaries = ["CANARY-env-7f3a", "CANARY-conf-9c1d"] as const;

const base = {
  type: "Scala",
  mode: "cluster",
  sparkVersion: "4.1.1",
  image: "docker.io/apache/spark:4.1.1",
  mainClass: "org.apache.spark.examples.SparkPi",
  mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
  arguments: ["1000"],
  sparkConf: { "spark.ssl.keyPassword": canaries[1] },
  restartPolicy: { type: "Never" },
  driver: { cores: 1, memory: "512m", serviceAccount: "spark", env: [{ name: "TOKEN", value: canaries[0] }] },
  executor: { instances: 2, cores: 1, memory: "512m" },
} as const;

const isDriver = ({ object }: Change): boolean => object.metadata.labels?.["spark-role"] === "driver";
const isExecutor = ({ object }: Change): boolean => object.metadata.labels?.["spark-role"] === "executor";
const runs = (change: Change): boolean =>
  change.table === "pods" && textAt(change.object, "status", "phase") === "Running";

const driverRuns = (change: Change): boolean => runs(change) && isDriver(change);
const executorRuns = (change: Change): boolean => runs(change) && isExecutor(change);
const stateIs =
  (state: string) =>
  (change: Change): boolean =>
    change.table === "sparkapplications.sparkoperator.k8s.io" &&
    textAt(change.object, "status", "applicationState", "state") === state;

/** The name of a schedule's run of so many minutes after eight, when the simulator's time begins. */
const runAt = (minute: number): string => `${appName}-${Date.UTC(2026, 10, 2, 8, minute) / 1_000}000000000`;

const isApplied =
  (plural: string) =>
  ({ type, table, object }: Change): boolean =>
    type === "ADDED" && table === `${plural}.sparkoperator.k8s.io` && object.metadata.name === appName;

const isReady = ({ table, object }: Change): boolean =>
  table === "sparkconnects.sparkoperator.k8s.io" && textAt(object, "status", "state") === "Ready";

export const scenarios: readonly Scenario[] = [
  {
    name: "completion",
    what: "runs to completion",
    spec: base,
    scripts: { [appName]: [{ jobMs: 4_000 }] },
    acts: [],
    ends: "COMPLETED",
    breadth: "whole",
  },
  {
    name: "retry",
    what: "the first driver fails, OnFailure brings a second that completes",
    spec: { ...base, restartPolicy: { type: "OnFailure", onFailureRetries: 2, onFailureRetryInterval: 3 } },
    scripts: { [appName]: [{ jobMs: 1_000, exitCode: 1 }, { jobMs: 2_000 }] },
    acts: [],
    ends: "COMPLETED",
    breadth: "whole",
  },
  {
    name: "deletion",
    what: "deleted while it runs",
    spec: base,
    scripts: { [appName]: [{ hangs: true }] },
    acts: [{ says: "kubectl delete", when: executorRuns, afterMs: 1_500, do: { act: "delete" } }],
    ends: "gone",
    breadth: "whole",
  },
  {
    name: "change",
    what: "its spec changes while it runs",
    spec: base,
    scripts: { [appName]: [{ hangs: true }, { jobMs: 2_000 }] },
    acts: [
      {
        says: "kubectl patch: other arguments",
        when: executorRuns,
        afterMs: 1_500,
        do: { act: "patch", spec: { arguments: ["2000"] } },
      },
    ],
    ends: "COMPLETED",
    breadth: "whole",
  },
  {
    name: "suspension",
    what: "suspended while it runs, resumed later",
    spec: base,
    scripts: { [appName]: [{ hangs: true }, { jobMs: 2_000 }] },
    acts: [
      { says: "suspend", when: driverRuns, afterMs: 1_000, do: { act: "patch", spec: { suspend: true } } },
      { says: "resume", when: stateIs("SUSPENDED"), afterMs: 20_000, do: { act: "patch", spec: { suspend: false } } },
    ],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "refusal",
    what: "the server refuses its driver, then the spec is mended",
    spec: { ...base, driver: { ...base.driver, labels: { team: "not a label value!" } } },
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    acts: [
      {
        says: "kubectl patch: a valid label",
        when: stateIs("FAILED"),
        afterMs: 5_000,
        do: { act: "patch", spec: { driver: { labels: { team: "data" } } } },
      },
    ],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "loss",
    what: "an executor is killed while it runs, and Spark replaces it",
    spec: base,
    scripts: { [appName]: [{ jobMs: 8_000 }] },
    acts: [
      { says: "an executor dies", when: executorRuns, afterMs: 1_500, do: { act: "kill", pod: /-exec-1$/, code: 137 } },
    ],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "companions",
    what: "a budget, a further port and its ingress go with two runs: the first fails, the second completes",
    spec: {
      ...base,
      driverPodDisruptionBudget: true,
      driverIngressOptions: [{ servicePort: 9_999, servicePortName: "api", ingressURLFormat: "{{$appName}}.x.org" }],
      restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 3 },
    },
    scripts: { [appName]: [{ jobMs: 1_000, exitCode: 1 }, { jobMs: 2_000 }] },
    acts: [],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "lateness",
    what: "an image cannot be pulled in time: the driver is given up, which spends no retry, and the next one completes",
    spec: base,
    annotations: { "rekindle.dev/driver-start-timeout": "30s", "rekindle.dev/restart-on": "infrastructure" },
    scripts: { [appName]: [{ pull: "fails" }, { jobMs: 2_000 }] },
    acts: [],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "stranger",
    what: "somebody else's pod has the driver's name; then it is removed and the spec changed",
    spec: base,
    scripts: { [appName]: [{ jobMs: 2_000 }] },
    strangers: [`${appName}-driver`],
    acts: [
      {
        says: "the pod in the way is deleted",
        when: stateIs("FAILED"),
        afterMs: 1_000,
        do: { act: "remove", pod: `${appName}-driver` },
      },
      {
        says: "kubectl patch: other arguments",
        when: stateIs("FAILED"),
        afterMs: 3_000,
        do: { act: "patch", spec: { arguments: ["2000"] } },
      },
    ],
    ends: "COMPLETED",
    breadth: "part",
  },
  {
    name: "schedule",
    what: "a schedule's time comes, and comes again, and then it is suspended",
    kind: "ScheduledSparkApplication",
    spec: { schedule: "*/12 * * * *", template: base },
    scripts: {},
    acts: [
      {
        says: "suspend, between the second time and the third",
        when: isApplied("scheduledsparkapplications"),
        afterMs: 30 * 60_000,
        do: { act: "patch", spec: { suspend: true } },
      },
    ],
    ends: "Scheduled",
    // Of several times that pass meanwhile, one run makes up.
    without: ["outage-20m"],
    breadth: "part",
  },
  {
    name: "replacement",
    what: "a schedule replaces the run that never ends by the next one",
    kind: "ScheduledSparkApplication",
    spec: { schedule: "*/12 * * * *", concurrencyPolicy: "Replace", template: { ...base, executor: { instances: 1 } } },
    scripts: { [runAt(12)]: [{ hangs: true }], [runAt(24)]: [{ hangs: true }] },
    acts: [
      {
        says: "suspend, between the second time and the third",
        when: isApplied("scheduledsparkapplications"),
        afterMs: 30 * 60_000,
        do: { act: "patch", spec: { suspend: true } },
      },
    ],
    ends: "Scheduled",
    // Of several times that pass meanwhile, one run makes up.
    without: ["outage-20m"],
    breadth: "part",
  },
  {
    name: "connect",
    what: "a Connect server's template changes, then its pod is deleted, and it is ready again",
    kind: "SparkConnect",
    spec: {
      sparkVersion: "4.1.1",
      image: "docker.io/apache/spark:4.1.1",
      sparkConf: { "spark.ssl.keyPassword": "changeit" },
      server: { cores: 1, memory: "512m", template: { spec: { serviceAccount: "spark" } } },
      executor: { instances: 1 },
    },
    scripts: {},
    acts: [
      {
        says: "kubectl patch: another template",
        when: isReady,
        afterMs: 2_000,
        do: { act: "patch", spec: { executor: { template: { spec: { nodeSelector: { disk: "ssd" } } } } } },
      },
      { says: "kubectl delete pod", when: isReady, afterMs: 40_000, do: { act: "remove", pod: `${appName}-server` } },
    ],
    ends: "Ready",
    breadth: "part",
  },
];
