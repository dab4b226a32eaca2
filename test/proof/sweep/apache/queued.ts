/** Lives of Apache's SparkApplications in a LocalQueue of Kueue. `volcano/kueue-judge.ts` has the stand-in for Kueue, and what holds. */

import type { Scenario } from "../scenario.ts";
import { stands } from "../volcano/kueued.ts";

type Fields = Readonly<Record<string, unknown>>;

const specOf = (applicationTolerations: Fields): Fields => ({
  runtimeVersions: { sparkVersion: "4.2.0" },
  mainClass: "org.apache.spark.examples.SparkPi",
  jars: "local:///opt/spark/examples/jars/spark-examples.jar",
  sparkConf: {
    "spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}",
    "spark.executor.instances": "2",
    "spark.authenticate": "false",
  },
  applicationTolerations,
});

const restarted = { restartConfig: { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartBackoffMillis: 4_000 } };

type Life = Omit<Scenario, "kind" | "scripts"> & { readonly scripts: Scenario["scripts"][string] };

const lives: readonly Life[] = [
  {
    name: "kueued",
    what: "Kueue admits it, evicts it once while it runs, and admits it again; that driver fails, and the next, which is queued anew, succeeds",
    spec: specOf(restarted),
    scripts: [{ hangs: true }, { jobMs: 2_000, exitCode: 1 }, { jobMs: 2_000 }],
    userActions: [],
    ends: "ResourceReleased",
    breadth: "thin",
  },
  {
    name: "kueued-kept",
    what: "Kueue admits it, and its quota is given back at its end, where its pods are kept",
    spec: specOf({ resourceRetainPolicy: "Always" }),
    scripts: [{ jobMs: 3_000 }],
    userActions: [],
    ends: "TerminatedWithoutReleaseResources",
    breadth: "sparse",
  },
  {
    name: "own-kueued",
    what: "Kueue admits it with executors of Rekindle's own, evicts it once while it runs, and admits it again",
    annotations: { "rekindle.dev/executors": "own" },
    spec: specOf({}),
    scripts: [{ hangs: true }, { jobMs: 4_000 }],
    userActions: [],
    ends: "ResourceReleased",
    breadth: "sparse",
  },
];

/** Of the families `apache` and `kueue`. */
export const queued: readonly Scenario[] = lives.map(({ scripts, ...life }) => ({
  ...life,
  name: `apache-${life.name}`,
  kind: "ApacheSparkApplication",
  labels: { "kueue.x-k8s.io/queue-name": "team-a" },
  stands,
  kueued: true,
  scripts: { "*": scripts },
}));
