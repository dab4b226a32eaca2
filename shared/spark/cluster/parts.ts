/** The resources of the objects that a SparkCluster consists of, and the names by which they and it are marked. */
import type { Resource } from "../../core/object.ts";
import { networkPolicies, podDisruptionBudgets, services, statefulSets } from "../../kube/resources.ts";

export const autoscalers: Resource = {
  group: "autoscaling",
  version: "v2",
  plural: "horizontalpodautoscalers",
  kind: "HorizontalPodAutoscaler",
};

/** Resources of the objects of a cluster, in the order of their creation. */
export const parts: readonly Resource[] = [services, statefulSets, networkPolicies, autoscalers, podDisruptionBudgets];

export const clusterLabel = "spark.operator/spark-cluster-name";

/** Upstream's finalizer. Rekindle adds none, and removes this one from a cluster under deletion. */
export const clusterFinalizer = "sparkclusters.spark.apache.org/finalizer";
