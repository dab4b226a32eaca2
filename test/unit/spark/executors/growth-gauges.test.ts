/** The gauges of growths that wait, from the Workloads of a cluster. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gaugesOfGrowth } from "../../../../shared/spark/executors/growth-gauges.ts";

const now = Date.UTC(2026, 10, 2, 8);

const growth = (status: object = {}, more: object = {}) => ({
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" },
  metadata: {
    ...{ name: "etl-grow-1", namespace: "jobs", uid: "g", resourceVersion: "1" },
    creationTimestamp: "2026-11-02T07:59:00Z",
    labels: { "app.kubernetes.io/managed-by": "rekindle", "rekindle.dev/app-uid": "a" },
    ownerReferences: [{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload", name: "etl", uid: "w" }],
    ...more,
  },
  spec: { podSets: [{ name: "executor", count: 6 }] },
  status,
});

const granted = {
  conditions: ["QuotaReserved", "Admitted"].map((type) => ({ type, status: "True" })),
  admission: { podSetAssignments: [{ name: "executor", count: 6 }] },
};

describe("the gauges of growths", () => {
  test("count the executors that a growth waits for, and its time", () => {
    assert.deepEqual(
      gaugesOfGrowth(growth(), now).map(({ name, value, of }) => [name, value, of]),
      [
        ["rekindle_growth_waiting_executors", 6, { namespace: "jobs" }],
        ["rekindle_growth_waiting_seconds", 60, { namespace: "jobs" }],
      ],
    );
  });

  const others = [
    { what: "a growth that is granted", one: growth(granted) },
    { what: "a growth that is being deleted", one: growth({}, { deletionTimestamp: "2026-11-02T08:00:00Z" }) },
    { what: "the Workload of a Volcano Job", one: growth({}, { ownerReferences: [] }) },
    { what: "a Workload of somebody else", one: growth({}, { labels: {} }) },
  ];
  for (const { what, one } of others)
    test(`do not count ${what}`, () => {
      assert.deepEqual(gaugesOfGrowth(one, now), []);
    });
});
