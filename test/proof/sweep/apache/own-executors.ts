/** Lives of Apache's SparkApplications whose executors Rekindle creates: `rekindle.dev/executors: own`. */
import { bothRun, driverRuns, executorRuns, type Scenario, type UserAction } from "../scenario.ts";

type Fields = Readonly<Record<string, unknown>>;

const conf = {
  "spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}",
  "spark.executor.instances": "2",
  // Only a driver's own allocator knows the secret that its driver makes.
  "spark.authenticate": "false",
};

const specOf = (sparkConf: Fields = {}, applicationTolerations: Fields = {}): Fields => ({
  runtimeVersions: { sparkVersion: "4.2.0" },
  mainClass: "org.apache.spark.examples.SparkPi",
  jars: "local:///opt/spark/examples/jars/spark-examples.jar",
  sparkConf: { ...conf, ...sparkConf },
  applicationTolerations: { instanceConfig: { initExecutors: 2, minExecutors: 2 }, ...applicationTolerations },
});

const dies: UserAction = {
  says: "an executor dies",
  when: bothRun,
  afterMs: 1_500,
  do: { type: "kill", pod: /-exec-\d+$/, code: 137 },
};

const restarted = { restartConfig: { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartBackoffMillis: 4_000 } };

const annotations = { "rekindle.dev/executors": "own" } as const;

type Life = Omit<Scenario, "kind" | "scripts"> & { readonly scripts: Scenario["scripts"][string] };

const lives: readonly Life[] = [
  {
    name: "loss",
    what: "Rekindle creates its executors; one dies, and is replaced",
    spec: specOf(),
    scripts: [{ hangs: true }],
    userActions: [dies],
    ends: "RunningHealthy",
    breadth: "part",
    also: ["stale", "deaf"],
    behindBy: [2, 16, 40],
    without: ["read-only-5m"],
  },
  {
    name: "mass-loss",
    what: "all executors of Rekindle's die at once, and the application completes with others",
    spec: specOf(),
    scripts: [{ jobMs: 400_000 }],
    userActions: [dies, { ...dies, do: { type: "kill", pod: /-exec-\d+$/, nth: 1, code: 137 } }],
    ends: "ResourceReleased",
    breadth: "thin",
    without: ["read-only-5m", "pause-600s"],
  },
  {
    name: "driver-again",
    what: "an executor of Rekindle's dies, and then the driver; the next attempt has executors of its own",
    spec: specOf({}, restarted),
    scripts: [{ hangs: true }],
    userActions: [
      dies,
      { says: "the driver dies", when: executorRuns, afterMs: 6_000, do: { type: "kill", pod: /-0-driver$/, code: 1 } },
    ],
    ends: "RunningHealthy",
    breadth: "thin",
    without: ["read-only-5m"],
  },
  {
    name: "kept",
    what: "its driver dies while the image of its executors cannot be pulled; its pod is kept, and no executor outlives it",
    spec: specOf({}, { resourceRetainPolicy: "Always", instanceConfig: {} }),
    scripts: [{ hangs: true, executors: { "*": { pull: "fails" } } }],
    userActions: [
      { says: "the driver dies", when: driverRuns, afterMs: 8_000, do: { type: "kill", pod: /-0-driver$/, code: 1 } },
    ],
    ends: "TerminatedWithoutReleaseResources",
    breadth: "sparse",
  },
  {
    name: "deletion",
    what: "it is deleted while Rekindle creates its executors",
    spec: specOf(),
    scripts: [{ hangs: true }],
    userActions: [{ says: "kubectl delete", when: driverRuns, afterMs: 2_500, do: { type: "delete" } }],
    ends: "gone",
    breadth: "thin",
  },
  {
    name: "machine-gone",
    what: "the machine of an executor of Rekindle's is deleted without notice, and it is replaced on another",
    spec: specOf(),
    machines: ["node-1", "node-2", "node-3"],
    scripts: [{ hangs: true }],
    userActions: [
      {
        says: "its machine is deleted",
        when: bothRun,
        afterMs: 1_500,
        do: { type: "unplug", pod: /-exec-\d+$/, nth: 1 },
      },
    ],
    ends: "RunningHealthy",
    breadth: "thin",
    without: ["read-only-5m"],
  },
  {
    name: "elastic",
    what: "Rekindle creates as many executors as the driver needs, up to three",
    spec: {
      ...specOf({ "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "3" }),
      applicationTolerations: { instanceConfig: { initExecutors: 1 } },
    },
    scripts: [
      {
        jobMs: 240_000,
        gauge: [
          [0, 2],
          [30_000, 400],
        ],
        executors: { "*": { busyMs: 600_000 } },
      },
    ],
    userActions: [],
    ends: "ResourceReleased",
    breadth: "thin",
    without: ["read-only-5m", "pause-600s"],
  },
];

/** Of the family `apache`. */
export const owned: readonly Scenario[] = lives.map(({ scripts, ...life }) => ({
  ...life,
  name: `apache-own-${life.name}`,
  kind: "ApacheSparkApplication",
  annotations,
  scripts: { "*": scripts },
}));
