/** Applications of `spark.apache.org`: upstream's own e2e manifests with a Spark version of the set-up, and the lane's. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { must, type Scene } from "../scene.ts";

/** The full name: kubectl takes the bare one from either of two API groups. */
export const plural = "sparkapplications.spark.apache.org";

/** The arguments of a host that runs the family beside the default ones. */
export const hostArgs: readonly string[] = ["--families", "spark,volcano,apache"];

/** The finalizer that upstream's operator adds at its first look. */
export const finalizer = "sparkapplications.spark.apache.org/finalizer";

const upstreamVersion = "4.2.0";

/** A manifest of upstream's e2e tests: its bindings filled in, its Spark replaced. */
export const upstreamManifest = async (
  file: string,
  sparkVersion: string,
  bindings: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const text = await readFile(file, "utf8");
  const bound = text.replaceAll(/\(\$(\w+)\)/g, (whole, name: string) => bindings[name] ?? whole);
  return bound.replaceAll(upstreamVersion, sparkVersion);
};

type Spec = Readonly<Record<string, unknown>> & { readonly sparkConf?: Readonly<Record<string, string>> };

/** SparkPi with one executor; `more` replaces fields of its spec, and its confs are added. */
export const apachePi = (name: string, sparkVersion: string, { sparkConf, ...more }: Spec = {}) => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: {
    mainClass: "org.apache.spark.examples.SparkPi",
    jars: "local:///opt/spark/examples/jars/spark-examples.jar",
    sparkConf: {
      "spark.executor.instances": "1",
      "spark.driver.memory": "512m",
      "spark.executor.memory": "512m",
      "spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}",
      "spark.kubernetes.authenticate.driver.serviceAccountName": "spark",
      ...sparkConf,
    },
    runtimeVersions: { sparkVersion },
    ...more,
  },
});

export const created = async ({ cluster }: Scene, manifest: string | object): Promise<void> => {
  const input = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
  const { code, stderr } = await cluster.kubectl(["create", "-f", "-"], { input });
  must(code === 0, `kubectl create: ${stderr}`);
};

/** Upstream's folder of a case. */
export const caseFile = (dir: string, folder: string, file: string): string => join(dir, "e2e", folder, file);
