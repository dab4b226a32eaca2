/** The declaration of Apache's SparkCluster. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { sparkClusters } from "./resource.ts";

export const sparkCluster = {
  resource: sparkClusters,
  family: "apache",
  // Upstream's short name is the singular, which every kind has.
  shortNames: [],
  title: "Spark cluster",
  alertLabels: ["sparkcluster", "label_spark_operator_spark_cluster_name"],
} as const satisfies DeclaredKind;
