/** The gauges of growths that wait for Kueue: the executors that they ask for, and since when. */
import type { MetricSample } from "../../core/metric.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { growthCountsOf, growthStateOf, isGrowth } from "../../kube/kueue-growth.ts";

/** The share of one Workload in each gauge: none, if it is no growth that waits. */
export const gaugesOfGrowth = (workload: Stored, now: number): readonly MetricSample[] => {
  if (!isGrowth(workload) || growthStateOf(workload) !== "waiting") return [];
  const { namespace = "", creationTimestamp } = workload.metadata;
  const waitedMs = Math.max(0, now - (instantOf(creationTimestamp) ?? now));
  const gauge = (name: string, value: number): MetricSample => ({ do: "count", name, value, of: { namespace } });
  return [
    gauge("rekindle_growth_waiting_executors", growthCountsOf(workload).executors),
    gauge("rekindle_growth_waiting_seconds", waitedMs / 1_000),
  ];
};
