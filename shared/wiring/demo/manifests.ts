/** What the demo applies: our CRDs and our example as they are shipped, and the account that the example names. */
import { readdir, readFile } from "node:fs/promises";

/** The texts of what is applied. */
export type Manifests = { readonly crds: readonly string[]; readonly account: string; readonly example: string };

/** The example, from the package's root. */
export const exampleFile = "infra/examples/spark-pi.yaml";

const account = `apiVersion: v1
kind: ServiceAccount
metadata: { name: spark, namespace: default }
`;

export const readManifests = async (root: URL): Promise<Manifests> => {
  const folder = new URL("infra/crds/", root);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const crds = await Promise.all(files.map((file) => readFile(new URL(file, folder), "utf8")));
  return { crds, account, example: await readFile(new URL(exampleFile, root), "utf8") };
};
