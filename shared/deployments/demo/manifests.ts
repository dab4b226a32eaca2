/** What the demo applies: our CRDs and our example as they are shipped, and what an installation brings beside. */
import { readdir, readFile } from "node:fs/promises";

/** The texts of what is applied. */
export type Manifests = {
  readonly crds: readonly string[];
  /** What the example runs as, and the namespace of records of what stands in none. */
  readonly beside: readonly string[];
  readonly example: string;
};

/** The example, from the package's root. */
export const exampleFile = "infra/examples/spark-pi.yaml";

/** Those of the other kinds, for whoever keeps the cluster up. */
export const moreExamples: readonly string[] = [
  "volcano-job",
  "volcano-jobflow",
  "volcano-cronjob",
  "spark-pi-scheduled",
].map((name) => `infra/examples/${name}.yaml`);

const home = `apiVersion: v1
kind: Namespace
metadata: { name: rekindle }
`;

const account = `apiVersion: v1
kind: ServiceAccount
metadata: { name: spark, namespace: default }
`;

export const readManifests = async (root: URL): Promise<Manifests> => {
  const folder = new URL("infra/crds/", root);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const crds = await Promise.all(files.map((file) => readFile(new URL(file, folder), "utf8")));
  return { crds, beside: [home, account], example: await readFile(new URL(exampleFile, root), "utf8") };
};
