/** The gauge of SparkClusters, computed from the objects when it is asked for. Upstream's operator has none. */
import type { CountedKind, MetricSample } from "../../core/metric.ts";
import type { Stored } from "../../core/object.ts";
import { labelsOf } from "../application/metrics.ts";
import { newestOf, statesIn } from "./memory.ts";
import { sparkClusters } from "./resource.ts";

/** The share of one cluster in the gauge. */
const gaugesOf = (object: Stored): readonly MetricSample[] => {
  const states = statesIn(object.status);
  const runs = states !== undefined && newestOf(states).summary === "RunningHealthy";
  return [{ do: "count", name: "spark_cluster_running_count", value: runs ? 1 : 0, of: labelsOf(object) }];
};

export const clusterGauges: readonly CountedKind[] = [{ resource: sparkClusters, samplesOf: gaugesOf }];
