/** The gauge of SparkClusters. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { clusterGauges } from "../../../../shared/spark/cluster/metrics.ts";

const cluster = (summary?: string): Stored => ({
  apiVersion: "spark.apache.org/v1",
  kind: "SparkCluster",
  metadata: { name: "c", namespace: "team", uid: "u-1", resourceVersion: "1", labels: { tier: "a" } },
  ...(summary === undefined
    ? {}
    : { status: { currentState: { currentStateSummary: summary, lastTransitionTime: "2026-11-02T08:00:00Z" } } }),
});

const [gauge = assert.fail("no gauge")] = clusterGauges;

for (const [summary, value] of [
  ["RunningHealthy", 1],
  ["SchedulingFailure", 0],
  [undefined, 0],
] as const)
  test(`a cluster in ${summary ?? "no state"} counts as ${value}`, () => {
    assert.deepEqual(gauge.samplesOf(cluster(summary), 0), [
      { do: "count", name: "spark_cluster_running_count", value, of: { tier: "a", namespace: "team" } },
    ]);
  });
