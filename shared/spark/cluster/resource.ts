/** The resource of Apache's SparkCluster. */
import type { Resource } from "../../core/object.ts";

export const sparkClusters: Resource = {
  group: "spark.apache.org",
  version: "v1",
  plural: "sparkclusters",
  kind: "SparkCluster",
};
