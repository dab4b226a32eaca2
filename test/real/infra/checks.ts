/** The checks of `infra:check` on a real API server: it accepts every overlay. */
import { readFile } from "node:fs/promises";
import type { Cluster } from "../cluster/cluster.ts";
import { build, rekindle } from "../e2e/installed.ts";
import { scaledObjects } from "../setup/keda.ts";
import { knativeServices } from "../setup/knative.ts";
import { type Check, install, objections } from "./accepted.ts";
import { chartChecks } from "./chart.ts";
import { functionChartChecks } from "./chart-functions.ts";
import { yamlChecks } from "./yaml.ts";

/** The folders that users apply. */
const folders = [
  ...["overlays/host", "overlays/host-spark", "overlays/host-volcano", "overlays/lambda", "overlays/knative"],
  ...["overlays/knative-admission", "overlays/dispatch", "overlays/dispatch-admission"],
  ...["overlays/nats", "overlays/nats-admission", "drivers"],
] as const;

const built = async (cluster: Cluster, folder: string): Promise<string> => {
  const { code, stdout, stderr } = await cluster.kubectl(["kustomize", `infra/kubernetes/${folder}`]);
  if (code !== 0) throw new Error(stderr.trim());
  return stdout;
};

/** Installs the CRDs first: without them the server knows none of the other objects. */
const defined = async (cluster: Cluster): Promise<void> => {
  await install(cluster, await built(cluster, "../crds"));
  for (const file of [knativeServices(), scaledObjects()]) await install(cluster, await readFile(file, "utf8"));
  const names =
    "crd/sparkapplications.sparkoperator.k8s.io crd/services.serving.knative.dev crd/scaledobjects.keda.sh".split(" ");
  await cluster.kubectl(["wait", "--for=condition=Established", "--timeout=30s", ...names]);
};

export const kubernetesChecks = (cluster: Cluster): readonly Check[] => [
  {
    name: "a real API server takes our definitions",
    run: async () => {
      await defined(cluster);
      return [];
    },
  },
  ...folders.map((folder) => ({
    name: `kubectl kustomize builds ${folder}, and a real API server takes it`,
    run: async () => await objections(cluster, await built(cluster, folder)),
  })),
  {
    name: "a real API server takes the policies",
    run: async () => {
      await build();
      return await objections(cluster, await rekindle(["manifests", "--policies"]));
    },
  },
  ...yamlChecks(cluster),
  ...chartChecks(cluster),
  ...functionChartChecks(cluster),
];
