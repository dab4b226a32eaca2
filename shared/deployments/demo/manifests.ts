/** The manifests of the demo: the CRDs and the example as they are shipped, and other objects of an installation. */
import { readdir, readFile } from "node:fs/promises";

/** The texts of the manifests. */
export type Manifests = {
  readonly crds: readonly string[];
  /** The service account of the example, and the namespace for records of cluster-scoped objects. */
  readonly beside: readonly string[];
  readonly example: string;
};

/** Path of the example, from the package's root. */
export const exampleFile = "infra/examples/spark-pi.yaml";

/** Paths of examples of other kinds, for a cluster that stays up. */
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
