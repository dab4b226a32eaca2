/** Lives of Apache's SparkApplication. Those with a fault of upstream's name it by its number in the specification. */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { textAt } from "../fields.ts";
import { appName, canaries, driverRuns, executorRuns, namespace, type Scenario, type UserAction } from "../scenario.ts";

type Fields = Readonly<Record<string, unknown>>;

const conf = {
  "spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}",
  "spark.executor.instances": "2",
  "spark.ssl.keyPassword": canaries[1],
};

const tolerating = (applicationTolerations: Fields, rest: Fields = {}): Fields => ({
  runtimeVersions: { sparkVersion: "4.2.0" },
  mainClass: "org.apache.spark.examples.SparkPi",
  jars: "local:///opt/spark/examples/jars/spark-examples.jar",
  sparkConf: conf,
  applicationTolerations,
  ...rest,
});

const restarting = (restartConfig: Fields, rest: Fields = {}): Fields =>
  tolerating({ restartConfig: { restartBackoffMillis: 4_000, ...restartConfig }, ...rest });

const summaryIs =
  (summary: string) =>
  ({ table, object }: Change): boolean =>
    table === "sparkapplications.spark.apache.org" &&
    object.metadata.name === appName &&
    textAt(object, "status", "currentState", "currentStateSummary") === summary;

/** The record shows it, also where no step comes to write the status. */
const isScheduledAgain = ({ table, object }: Change): boolean =>
  table === "checkpoints.rekindle.dev" &&
  object.metadata.name === `apachesparkapplication.${appName}` &&
  textAt(object, "spec", "memory", "status", "currentState", "currentStateSummary") === "ScheduledToRestart";

/** A step has seen its driver: one that is deleted before is made again in the same attempt. */
const isHealthy = summaryIs("RunningHealthy");

const isApplied = ({ type, table, object }: Change): boolean =>
  type === "ADDED" && table === "sparkapplications.spark.apache.org" && object.metadata.name === appName;

const driver = /^pi-\d-driver$/;

const deletes = (when: UserAction["when"], afterMs: number): readonly UserAction[] => [
  { says: "kubectl delete", when, afterMs, do: { type: "delete" } },
];

const scripted = (...scripts: Scenario["scripts"][string][number][]): Scenario["scripts"] => ({ "*": scripts });

type Life = Omit<Scenario, "kind" | "name"> & { readonly name: string };

const ends: readonly Life[] = [
  {
    name: "completion",
    what: "an application of spark.apache.org runs to completion, and its objects are released",
    upstream: "B6, B13, B15 SPARK-53706, SPARK-56228, SPARK-58495",
    spec: tolerating({}),
    scripts: scripted({ jobMs: 4_000 }),
    userActions: [],
    ends: "ResourceReleased",
    breadth: "whole",
    drawn: true,
  },
  {
    name: "kept",
    what: "its objects are kept, then deleted, then it is deleted itself, each at its time",
    upstream: "B4",
    spec: tolerating({
      resourceRetainPolicy: "Always",
      resourceRetainDurationMillis: 10_000,
      ttlAfterStopMillis: 30_000,
    }),
    scripts: scripted({ jobMs: 3_000 }),
    userActions: [],
    ends: "gone",
    breadth: "sparse",
  },
  {
    name: "kept-restarted",
    what: "two attempts fail, and the objects of the last one are kept, as its state says",
    upstream: "B4",
    spec: restarting({ restartPolicy: "OnFailure", maxRestartAttempts: 1 }, { resourceRetainPolicy: "OnFailure" }),
    scripts: scripted({ jobMs: 2_000, exitCode: 1 }),
    userActions: [],
    ends: "TerminatedWithoutReleaseResources",
    breadth: "sparse",
  },
  {
    name: "start-timeout",
    what: "its image cannot be pulled, and driverStartTimeoutMillis ends it",
    spec: tolerating({ applicationTimeoutConfig: { driverStartTimeoutMillis: 20_000 } }),
    scripts: scripted({ pull: "fails" }),
    userActions: [],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
  {
    name: "executors-timeout",
    what: "its executors do not start, executorStartTimeoutMillis ends the attempt, and the next one succeeds",
    spec: restarting(
      { restartPolicy: "OnInfrastructureFailure", maxRestartAttempts: 1 },
      { applicationTimeoutConfig: { executorStartTimeoutMillis: 15_000 }, instanceConfig: { initExecutors: 2 } },
    ),
    scripts: scripted({ hangs: true, executors: { "*": { pull: "fails" } } }, { jobMs: 4_000 }),
    userActions: [],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
  {
    name: "thresholds",
    what: "it loses an executor while two are the least, its driver replaces it, and it completes",
    spec: tolerating({ instanceConfig: { initExecutors: 2, minExecutors: 2 } }),
    scripts: scripted({ jobMs: 20_000 }),
    userActions: [
      {
        says: "an executor dies",
        when: executorRuns,
        afterMs: 1_500,
        do: { type: "kill", pod: /-exec-/, code: 1 },
      },
    ],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
];

const restarts: readonly Life[] = [
  {
    name: "retry",
    what: "its first driver fails, and OnFailure brings a second, which succeeds, after the backoff",
    upstream: "B12, B17, B19 SPARK-57497",
    spec: restarting({ restartPolicy: "OnFailure", maxRestartAttempts: 2 }),
    scripts: scripted({ jobMs: 1_000, exitCode: 1 }, { jobMs: 2_000 }),
    userActions: [],
    ends: "ResourceReleased",
    breadth: "part",
  },
  {
    name: "same-name",
    what: "all attempts have one spark.app.id, so that the objects of the next have the names of the last",
    upstream: "B7 SPARK-52657",
    spec: {
      ...restarting({ restartPolicy: "OnFailure", maxRestartAttempts: 1 }),
      sparkConf: { ...conf, "spark.app.id": "fixed" },
    },
    scripts: scripted({ jobMs: 1_000, exitCode: 1, stopMs: 4_000 }, { jobMs: 2_000 }),
    userActions: [],
    ends: "ResourceReleased",
    breadth: "thin",
  },
  {
    name: "restart-limit",
    what: "every driver succeeds and is restarted, until maxRestartAttempts ends it",
    spec: restarting({ restartPolicy: "Always", maxRestartAttempts: 1, maxRestartOnFailure: 0 }),
    scripts: scripted({ jobMs: 1_000 }),
    userActions: [],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
  {
    name: "history",
    what: "it fails once and waits for a minute, and stays suspended until a user resumes it",
    spec: restarting({ restartPolicy: "OnFailure", maxRestartAttempts: 1, restartBackoffMillisForFailure: 60_000 }),
    scripts: scripted({ jobMs: 1_000, exitCode: 1 }, { jobMs: 1_000 }),
    userActions: [
      {
        says: "suspend",
        when: isScheduledAgain,
        afterMs: 5_000,
        do: { type: "patch", spec: { suspend: true } },
      },
      {
        says: "resume",
        when: isScheduledAgain,
        afterMs: 90_000,
        do: { type: "patch", spec: { suspend: false } },
      },
    ],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
];

const losses: readonly Life[] = [
  {
    name: "driver-lost",
    what: "its driver's pod is deleted by a user, and the attempt has failed",
    upstream: "B11 SPARK-57868",
    spec: tolerating({}),
    scripts: scripted({ hangs: true }),
    userActions: [
      {
        says: "kubectl delete pod",
        when: isHealthy,
        afterMs: 3_500,
        do: { type: "remove", pod: `${appName}-0-driver` },
      },
    ],
    ends: "ResourceReleased",
    breadth: "thin",
  },
  {
    name: "driver-drained",
    what: "its driver ends with 0 because its pod is deleted: that is no success, and the next attempt follows",
    spec: restarting({ restartPolicy: "OnFailure", maxRestartAttempts: 1 }),
    scripts: scripted({ hangs: true, stopCode: 0, stopMs: 2_000 }, { jobMs: 2_000 }),
    userActions: [
      {
        says: "kubectl delete pod",
        when: isHealthy,
        afterMs: 3_500,
        do: { type: "remove", pod: `${appName}-0-driver` },
      },
    ],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
  {
    name: "evicted",
    what: "its driver is evicted, and OnFailure brings another",
    upstream: "B1, B29 #863",
    spec: restarting({ restartPolicy: "OnFailure", maxRestartAttempts: 1 }),
    scripts: scripted({ hangs: true }, { jobMs: 2_000 }),
    userActions: [{ says: "the kubelet evicts", when: driverRuns, afterMs: 1_000, do: { type: "evict", pod: driver } }],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
  {
    name: "node-lost",
    what: "the node of its driver is deleted without notice, and the next attempt runs on another",
    upstream: "B1 #863",
    machines: ["node-1", "node-2"],
    spec: restarting({ restartPolicy: "OnFailure", maxRestartAttempts: 1 }),
    scripts: scripted({ hangs: true }, { jobMs: 2_000 }),
    userActions: [{ says: "a node goes", when: executorRuns, afterMs: 1_000, do: { type: "unplug", pod: driver } }],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
  {
    name: "machine-away",
    what: "the node of an executor stands still, and the executor is given up, so that its driver creates another",
    machines: ["node-1", "node-2", "node-3"],
    spec: tolerating({ instanceConfig: { initExecutors: 2, minExecutors: 2 } }),
    scripts: scripted({ hangs: true }),
    userActions: [
      {
        says: "its machine stands still",
        when: executorRuns,
        afterMs: 1_500,
        do: { type: "freeze", pod: /-exec-\d+$/, nth: 1 },
      },
    ],
    ends: "RunningHealthy",
    breadth: "thin",
    without: ["read-only-5m"],
  },
  {
    name: "executor-stuck",
    what: "the image of an executor cannot be pulled, and the executor is deleted, so that its driver creates another",
    annotations: { "rekindle.dev/executor-pending-timeout": "20s" },
    spec: tolerating({ instanceConfig: { initExecutors: 2, minExecutors: 2 } }),
    scripts: scripted({ hangs: true, executors: { "1": { pull: "fails" } } }),
    userActions: [],
    ends: "RunningHealthy",
    breadth: "thin",
    without: ["read-only-5m"],
  },
];

const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shared", namespace }, data: { a: "theirs" } };
const maps = `/api/v1/namespaces/${namespace}/configmaps`;

const refusals: readonly Life[] = [
  {
    name: "refused",
    what: "a ConfigMap that it wants is another's until its second attempt",
    upstream: "B5, B27, B28",
    spec: {
      ...restarting({
        restartPolicy: "OnInfrastructureFailure",
        maxRestartAttempts: 2,
        restartBackoffMillisForSchedulingFailure: 20_000,
      }),
      configMapSpecs: [{ name: "shared", data: { a: "mine" } }],
    },
    scripts: scripted({ jobMs: 2_000 }),
    stands: [[maps, theirs]],
    userActions: [
      {
        says: "kubectl delete configmap",
        when: isScheduledAgain,
        afterMs: 3_000,
        do: { type: "write", method: "DELETE", path: `${maps}/shared` },
      },
    ],
    ends: "ResourceReleased",
    breadth: "thin",
  },
  {
    name: "client-mode",
    what: "it asks for ClientMode, is refused once, and is deleted",
    upstream: "B2 SPARK-54674",
    spec: tolerating({}, { deploymentMode: "ClientMode" }),
    scripts: {},
    userActions: deletes(summaryIs("ResourceReleased"), 5_000),
    ends: "gone",
    breadth: "sparse",
  },
  {
    name: "namesake",
    what: "an application of the Spark operator has its name, and stays as it is",
    spec: tolerating({}),
    scripts: scripted({ jobMs: 2_000 }),
    stands: [
      [
        `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`,
        {
          apiVersion: "sparkoperator.k8s.io/v1beta2",
          kind: "SparkApplication",
          metadata: { name: appName, namespace, annotations: { "rekindle.dev/paused": "true" } },
          spec: {
            type: "Scala",
            mode: "cluster",
            sparkVersion: "4.1.1",
            mainApplicationFile: "local:///a.jar",
            driver: {},
            executor: {},
          },
        },
      ],
    ],
    userActions: [],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
];

const hook = "https://listener.example/hook";

const deletions: readonly Life[] = [
  {
    name: "deletion",
    what: "it is deleted while it runs, with the finalizer of upstream gone before",
    upstream: "B6",
    spec: tolerating({}),
    scripts: scripted({ hangs: true }),
    userActions: deletes(executorRuns, 1_500),
    ends: "gone",
    breadth: "part",
  },
  {
    name: "told",
    what: "a listener hears every state, and that it is gone, once it is deleted after its end",
    spec: tolerating({}),
    scripts: scripted({ jobMs: 3_000 }),
    listeners: { [hook]: ["acknowledges"] },
    annotations: { "rekindle.dev/updates-to": hook },
    userActions: deletes(summaryIs("ResourceReleased"), 8_000),
    ends: "gone",
    breadth: "sparse",
  },
  {
    name: "deleted-at-birth",
    what: "it is deleted as soon as it is applied",
    upstream: "B6",
    spec: tolerating({}),
    scripts: scripted({ hangs: true }),
    userActions: [{ ...deletes(isApplied, 150)[0], during: true } as UserAction],
    ends: "gone",
    breadth: "thin",
  },
  {
    name: "again",
    what: "it is deleted while it runs, applied again, and completes",
    spec: tolerating({}),
    scripts: scripted({ hangs: true }, { jobMs: 2_000 }),
    userActions: [
      ...deletes(executorRuns, 1_500),
      {
        says: "kubectl apply",
        when: ({ type, table, object }) =>
          type === "DELETED" && table === "sparkapplications.spark.apache.org" && object.metadata.name === appName,
        afterMs: 1_000,
        do: { type: "apply" },
      },
    ],
    ends: "ResourceReleased",
    breadth: "thin",
  },
];

/** The family `apache`. */
export const apache: readonly Scenario[] = [...ends, ...restarts, ...losses, ...refusals, ...deletions].map((life) => ({
  ...life,
  name: `apache-${life.name}`,
  kind: "ApacheSparkApplication",
}));
