/** Money in the metrics of a host: made of the samples of usage, by the prices of nodes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MetricSample } from "../../../../shared/core/metric.ts";
import { withCosts } from "../../../../shared/deployments/host/metrics.ts";
import type { Rates } from "../../../../shared/inspection/rates.ts";

const rates: Rates = {
  ...{ currency: "EUR", usual: { core: 2, gib: 0.5 }, isByNode: true, refresh: async () => {} },
  on: (node) => (node === "spot-1" ? { core: 0.2, gib: 0.05 } : undefined),
};

const sample = (name: string, value: number, node: string): MetricSample => ({
  ...{ do: "count", name, value },
  of: { namespace: "team-a", node },
});

const costsOf = (measures: readonly MetricSample[]) =>
  withCosts(measures, rates)
    .slice(measures.length)
    .map(({ name, value, of }) => [name, value, of]);

const of = { namespace: "team-a", currency: "EUR" };

describe("the money for executors that have ended", () => {
  test("is their core-hours and GiB-hours times the price of their node", () => {
    const used = [
      sample("rekindle_executor_core_seconds_total", 3_600, "spot-1"),
      sample("rekindle_executor_gib_seconds_total", 7_200, "spot-1"),
    ];
    assert.deepEqual(costsOf(used), [
      ["rekindle_executor_cost_total", 0.2, of],
      ["rekindle_executor_cost_total", 0.1, of],
    ]);
  });

  test("is by the usual price on a node that is not known, and apart for what was lost", () => {
    const used = [
      sample("rekindle_lost_core_seconds_total", 3_600, ""),
      sample("rekindle_lost_gib_seconds_total", 3_600, "gone"),
    ];
    assert.deepEqual(costsOf(used), [
      ["rekindle_lost_cost_total", 2, of],
      ["rekindle_lost_cost_total", 0.5, of],
    ]);
  });

  test("is named by no sample of another metric, and by none without prices", () => {
    const used = [sample("rekindle_executor_core_seconds_total", 3_600, "spot-1")];
    assert.deepEqual(costsOf([sample("rekindle_steps_total", 1, "")]), []);
    assert.deepEqual(withCosts(used, undefined), used);
  });
});
