/** Apache's Spark operator as its chart installs it: a Deployment without arguments, and its properties in a ConfigMap. */
import type { Simulator } from "../../../shared/simulator/open.ts";
import { make } from "./terminal.ts";
import { type Living, settle } from "./upstreams.ts";

export const home = "spark-operator";

const name = "spark-kubernetes-operator";

/** Properties as the chart writes them for two namespaces. */
export const properties = `spark.kubernetes.operator.namespace=spark-operator
spark.kubernetes.operator.name=spark-kubernetes-operator
# Health, metrics
spark.kubernetes.operator.metrics.port: 19090
spark.kubernetes.operator.watchedNamespaces=default,team
`;

/** Installs the operator, which elects no leader. `text`: its file of properties; false: no ConfigMap holds it. */
export const install = async (simulator: Simulator, text: string | false = properties): Promise<Living> => {
  const configMap = `${name}-configuration`;
  const image = `apache/${name}:1.0.0`;
  const deployments = [{ name, replicas: 1, image, args: [], configMaps: [configMap] }];
  const living = await settle(simulator, { home, deployments, hooks: [], lease: false, leader: name });
  const metadata = { name: configMap, namespace: home };
  if (text !== false)
    await make(simulator, {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata },
      data: { "spark-operator.properties": text },
    });
  return living;
};
