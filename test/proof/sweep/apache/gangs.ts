/** Applications of `spark.apache.org` that start whole. `volcano/gang-judge.ts` holds what their groups must keep. */
import type { Scenario } from "../scenario.ts";

/** Of the 64 cores of the machine, 56. */
const sparkConf = {
  "spark.kubernetes.container.image": "apache/spark:4.2.0",
  "spark.executor.instances": "2",
  "spark.driver.cores": "16",
  "spark.executor.cores": "20",
  "spark.authenticate": "false",
};

type Life = Pick<Scenario, "name" | "what" | "annotations" | "scripts" | "breadth" | "without">;

const lives: readonly Life[] = [
  {
    name: "gang",
    what: "driver and own executors start as one group, in the first attempt, which fails, and in the second: no driver without places for its executors",
    annotations: { "rekindle.dev/executors": "own", "rekindle.dev/gang": "true" },
    scripts: { "*": [{ jobMs: 400_000, exitCode: 1 }, { jobMs: 400_000 }] },
    breadth: "thin",
    without: ["read-only-5m", "pause-600s"],
  },
  {
    name: "gang-assist",
    what: "its driver creates the executors, whose places are reserved until they have nodes",
    annotations: { "rekindle.dev/gang": "true", "rekindle.dev/gang-required": "true" },
    scripts: { "*": [{ jobMs: 400_000 }] },
    breadth: "sparse",
    without: ["pause-600s"],
  },
];

/** Of the families `apache` and `gang`. */
export const gangsOfApache: readonly Scenario[] = lives.map((life) => ({
  ...life,
  name: `apache-${life.name}`,
  kind: "ApacheSparkApplication",
  gang: "builtin",
  spec: {
    runtimeVersions: { sparkVersion: "4.2.0" },
    mainClass: "org.apache.spark.examples.SparkPi",
    jars: "local:///opt/spark/examples/jars/spark-examples.jar",
    sparkConf,
    applicationTolerations: { restartConfig: { restartPolicy: "OnFailure", restartBackoffMillis: 3_000 } },
  },
  userActions: [],
  ends: "ResourceReleased",
}));
