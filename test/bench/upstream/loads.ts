/** The loads of the benchmarks that the two Spark operators publish: their applications, and what the host and the stand-ins need for them. */
import * as z from "zod";
import type { Family } from "../../../shared/kube/resources.ts";
import { sparkPi } from "../../support/pi.ts";
import { stateOf } from "../pages.ts";
import { applications } from "../submit.ts";

export type Load = {
  /** The kinds that the installation and its host run; undefined: the default ones. */
  readonly kinds?: readonly Family[];
  /** The collection of the applications. */
  readonly path: string;
  /** The label that names the application of a pod. */
  readonly nameLabel: string;
  /** Executors of each driver. */
  readonly executors: number;
  /** Its objects are kept at its end where `keeps`, so that the floor can create them once more. */
  readonly manifest: (name: string, keeps: boolean) => object;
  readonly driverName: (name: string) => string;
  readonly isOver: (one: unknown) => boolean;
  /** The most ms until the driver of one more application. */
  readonly aimMs: number;
  /** Applications of the floor. */
  readonly sample: number;
};

const kubeflow: Load = {
  path: applications,
  nameLabel: "sparkoperator.k8s.io/app-name",
  executors: 5,
  manifest: (name) => sparkPi(name, { executor: { instances: 5, cores: 1, memory: "512m" } }),
  driverName: (name) => `${name}-driver`,
  isOver: (one) => stateOf(one) === "COMPLETED",
  aimMs: 40,
  sample: 500,
};

const shown = z.object({
  status: z.object({ currentState: z.object({ currentStateSummary: z.string() }) }).optional(),
});

const ends: readonly (string | undefined)[] = ["ResourceReleased", "TerminatedWithoutReleaseResources"];

/** Upstream's benchmark runs each application in its driver alone. */
const apache: Load = {
  kinds: ["spark", "volcano", "apache"],
  path: "/apis/spark.apache.org/v1/namespaces/default/sparkapplications",
  nameLabel: "spark.operator/spark-app-name",
  executors: 0,
  manifest: (name, keeps) => ({
    apiVersion: "spark.apache.org/v1",
    kind: "SparkApplication",
    metadata: { name, namespace: "default" },
    spec: {
      mainClass: "org.apache.spark.examples.DriverSubmissionTest",
      jars: "local:///opt/spark/examples/jars/spark-examples.jar",
      driverArgs: ["0"],
      sparkConf: {
        "spark.kubernetes.driver.master": "local[1]",
        "spark.kubernetes.driver.request.cores": "1",
        "spark.driver.memory": "512m",
        "spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}",
        "spark.kubernetes.authenticate.driver.serviceAccountName": "spark",
        "spark.kubernetes.driver.pod.excludedFeatureSteps":
          "org.apache.spark.deploy.k8s.features.KerberosConfDriverFeatureStep",
      },
      applicationTolerations: { resourceRetainPolicy: keeps ? "Always" : "Never" },
      runtimeVersions: { sparkVersion: "4.2.0" },
    },
  }),
  driverName: (name) => `${name}-0-driver`,
  isOver: (one) => ends.includes(shown.parse(one).status?.currentState.currentStateSummary),
  aimMs: 90,
  sample: 200,
};

export const loads: Readonly<Record<string, Load>> = { spark: kubeflow, apache };
