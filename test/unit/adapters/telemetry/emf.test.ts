/** Gauges as lines that CloudWatch reads: their dimensions, and the bound of their number. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gaugeLines } from "../../../../shared/adapters/telemetry/emf.ts";
import type { MetricSample } from "../../../../shared/core/metric.ts";

const gauges = [
  { name: "apps", labels: [] },
  { name: "jobs", labels: ["phase", "queue_name"] },
  { name: "allocated", labels: ["queue_name", "resource"] },
] as const;

const sample = (name: string, value: number, of: MetricSample["of"] = {}): MetricSample => ({
  ...{ do: "count", name, value, of },
});

const linesOf = (samples: readonly MetricSample[]): readonly Record<string, unknown>[] =>
  gaugeLines(gauges, samples, { cluster: "prod", now: 5 }).map((line) => JSON.parse(line));

/** Returns the values of the lines without what they say to CloudWatch. */
const toldOf = (samples: readonly MetricSample[]) => linesOf(samples).map(({ _aws, ...rest }) => rest);

describe("gauges as lines for CloudWatch", () => {
  test("are summed by their labels, which are their dimensions beside the cluster", () => {
    const samples = [
      sample("apps", 1, { namespace: "a" }),
      sample("apps", 1, { namespace: "b" }),
      sample("jobs", 1, { phase: "Running", queue_name: "q", uid: "u" }),
      sample("jobs", 1, { phase: "Running", queue_name: "q", uid: "v" }),
      sample("unknown", 7),
    ];
    const [apps, jobs, ...more] = linesOf(samples);
    const cloud = (Name: string, dimensions: readonly string[]) => ({
      Timestamp: 5,
      CloudWatchMetrics: [{ Namespace: "Rekindle", Dimensions: [dimensions], Metrics: [{ Name, Unit: "Count" }] }],
    });
    assert.deepEqual(apps, { _aws: cloud("apps", ["cluster"]), cluster: "prod", apps: 2 });
    const labels = { phase: "Running", queue_name: "q" };
    assert.deepEqual(jobs, {
      _aws: cloud("jobs", ["cluster", ...Object.keys(labels)]),
      cluster: "prod",
      ...labels,
      jobs: 2,
    });
    assert.deepEqual(more, []);
  });

  test("with a sum of 0 have no line", () => assert.deepEqual(linesOf([sample("apps", 0), sample("apps", 0)]), []));

  test("of a thousand queues have ten queues apart, and the sum of the others", () => {
    const samples = Array.from({ length: 1_000 }, (_, at) =>
      sample("jobs", 1, { phase: "Running", queue_name: `q-${String(at).padStart(3, "0")}` }),
    );
    const often = [sample("jobs", 1, { phase: "Failed", queue_name: "q-999" })];
    const told = toldOf([...samples, ...often]);
    assert.equal(told.length, 12);
    const others = told.filter(({ queue_name }) => queue_name === "(others)");
    assert.deepEqual(others, [{ cluster: "prod", phase: "Running", queue_name: "(others)", jobs: 990 }]);
    // The queue with the most samples is told apart, whatever its name.
    const own = told.filter(({ queue_name }) => queue_name === "q-999").map(({ phase, jobs }) => [phase, jobs]);
    assert.deepEqual(own, [
      ["Running", 1],
      ["Failed", 1],
    ]);
  });

  test("of many resources have ten, and no sum of the others, whose units differ", () => {
    const samples = Array.from({ length: 30 }, (_, at) =>
      sample("allocated", 2, { queue_name: "q", resource: `vendor/r${String(at).padStart(2, "0")}` }),
    );
    assert.deepEqual(
      toldOf(samples).map(({ resource }) => resource),
      Array.from({ length: 10 }, (_, at) => `vendor/r0${at}`),
    );
  });

  const rows: readonly (readonly [what: string, value: string | undefined, expected: string])[] = [
    ["no value", undefined, "Unknown"],
    ["a blank value", " ", "Unknown"],
    ["letters beyond ASCII", "zähl\n", "z?hl?"],
    ["a value that is too long", "q".repeat(5_000), "q".repeat(253)],
  ];
  for (const [what, value, expected] of rows) {
    test(`with ${what} have a value that CloudWatch accepts`, () => {
      const of = value === undefined ? {} : { queue_name: value };
      assert.deepEqual(
        toldOf([sample("jobs", 1, { phase: "Running", ...of })]).map(({ queue_name }) => queue_name),
        [expected],
      );
    });
  }
});
