/**
 * Metrics as Prometheus reads them: all present from the start, with the deployment's labels, gauges with current
 * values.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emfLines } from "../../../../shared/adapters/telemetry/emf.ts";
import { type Family, openMetrics, validName } from "../../../../shared/adapters/telemetry/metrics.ts";
import type { MetricSample } from "../../../../shared/core/metric.ts";

const figures = [
  { name: "runs_count", help: "h", kind: "counter" },
  { name: "running_count", help: "h", kind: "gauge" },
  { name: "time_seconds", help: "h", kind: "summary" },
  { name: "time_seconds_histogram", help: "h", kind: "histogram", buckets: [1, 2] },
] as const;

const families = (labels: readonly string[], prefix = ""): readonly Family[] =>
  figures.map((figure) => ({ figure, labels, prefix }));

const linesOf = (text: string): readonly string[] =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

const measure = (name: string, value: number, of: MetricSample["of"] = {}): MetricSample => ({
  do: "count",
  name,
  value,
  of,
});

describe("metrics", () => {
  test("are all present from the start", async () => {
    const { render } = openMetrics(families([]));
    assert.deepEqual(linesOf(await render([])), [
      "runs_count 0",
      "running_count 0",
      "time_seconds_sum 0",
      "time_seconds_count 0",
      'time_seconds_histogram_bucket{le="1"} 0',
      'time_seconds_histogram_bucket{le="2"} 0',
      'time_seconds_histogram_bucket{le="+Inf"} 0',
      "time_seconds_histogram_sum 0",
      "time_seconds_histogram_count 0",
    ]);
  });

  test("are separate by an application's labels, with Unknown for a missing one", async () => {
    const { meter, render } = openMetrics(families(["app-type", "namespace"], "my"));
    meter([
      measure("runs_count", 1, { "app-type": "etl", namespace: "a", other: "x" }),
      measure("runs_count", 2, { namespace: "a" }),
      measure("nobody's", 1),
    ]);
    const lines = linesOf(await render([])).filter((line) => line.startsWith("my_runs_count"));
    assert.deepEqual(lines, [
      'my_runs_count{app_type="Unknown",namespace="Unknown"} 0',
      'my_runs_count{app_type="etl",namespace="a"} 1',
      'my_runs_count{app_type="Unknown",namespace="a"} 2',
    ]);
  });

  test("that are gauges have the values of this scrape only", async () => {
    const { render } = openMetrics(families([]));
    const value = async (samples: readonly MetricSample[]) =>
      linesOf(await render(samples)).find((line) => line.startsWith("running_count"));
    assert.equal(await value([measure("running_count", 1), measure("running_count", 1)]), "running_count 2");
    assert.equal(await value([measure("running_count", 1)]), "running_count 1");
  });

  test("that are counters of existing objects are counted anew at each scrape, too", async () => {
    const ended = { name: "ended_count", help: "h", kind: "counter", ofObjects: true } as const;
    const { render } = openMetrics([{ figure: ended, labels: ["job"], prefix: "" }]);
    const lines = async (standing: readonly MetricSample[]) => linesOf(await render(standing)).slice(1);
    assert.deepEqual(await lines([measure("ended_count", 1, { job: "a" })]), ['ended_count{job="a"} 1']);
    assert.deepEqual(await lines([measure("ended_count", 1, { job: "b" })]), ['ended_count{job="b"} 1']);
  });

  test("that are histograms count into their buckets", async () => {
    const { meter, render } = openMetrics(families([]));
    meter([measure("time_seconds_histogram", 1.5), measure("time_seconds", 1.5)]);
    const lines = linesOf(await render([]));
    assert.ok(lines.includes('time_seconds_histogram_bucket{le="2"} 1') && lines.includes("time_seconds_sum 1.5"));
    assert.ok(lines.includes('time_seconds_histogram_bucket{le="1"} 0'));
  });

  const names = [
    { prefix: "", name: "app.kubernetes.io/name", want: "app_kubernetes_io_name" },
    { prefix: "my-org", name: "runs_count", want: "my_org_runs_count" },
    { prefix: "", name: "0day", want: "_0day" },
  ];
  for (const { prefix, name, want } of names)
    test(`${prefix}${name} is named ${want}`, () => assert.equal(validName(prefix, name), want));
});

describe("a function's metrics", () => {
  test("are one line for each namespace, in CloudWatch's format, with repeated samples summed", () => {
    const lines = emfLines(
      [
        measure("runs_count", 1, { namespace: "a", team: "x" }),
        measure("runs_count", 1, { namespace: "a" }),
        measure("time_seconds", 2.5, { namespace: "b" }),
        measure("rekindle_recovery_errors_total", 1),
      ],
      { cluster: "c", now: 5 },
    ).map((line) => JSON.parse(line));
    const cloud = (dimensions: readonly (readonly string[])[], Name: string, Unit: string) => ({
      Timestamp: 5,
      CloudWatchMetrics: [{ Namespace: "Rekindle", Dimensions: dimensions, Metrics: [{ Name, Unit }] }],
    });
    const both = [["cluster"], ["cluster", "namespace"]];
    const errors = "rekindle_recovery_errors_total";
    assert.deepEqual(lines, [
      { _aws: cloud(both, "runs_count", "Count"), cluster: "c", namespace: "a", runs_count: 2 },
      { _aws: cloud(both, "time_seconds", "Seconds"), cluster: "c", namespace: "b", time_seconds: 2.5 },
      { _aws: cloud([["cluster"]], errors, "Count"), cluster: "c", rekindle_recovery_errors_total: 1 },
    ]);
  });

  test("that are observed often have all their values, with as many in a line as CloudWatch allows", () => {
    const observed = (value: number): MetricSample => ({ ...measure("to_pods_milliseconds", value), do: "observe" });
    const all = [measure("runs_count", 2), ...Array.from({ length: 101 }, (_, at) => observed(at))];
    const [first, second, ...more] = emfLines(all, { cluster: "c", now: 5 }).map((line) => JSON.parse(line));
    assert.deepEqual([first.runs_count, first.to_pods_milliseconds.length], [2, 100]);
    assert.deepEqual(first._aws.CloudWatchMetrics[0].Metrics[1], {
      Name: "to_pods_milliseconds",
      Unit: "Milliseconds",
    });
    assert.deepEqual([second.runs_count, second.to_pods_milliseconds, more], [undefined, 100, []]);
  });

  test("have no line without samples", () => assert.deepEqual(emfLines([], { cluster: "c", now: 5 }), []));
});

describe("the series of a metric", () => {
  const of = (namespace: string, at: number) => ({ namespace, job_name: `${namespace}/${at}` });
  const seriesIn = (text: string, name: string): readonly string[] =>
    linesOf(text).filter((line) => line.startsWith(`${name}{`));

  test("are bounded: one tenant's thousands of names become one series, and another's stay separate", async () => {
    const { meter, render } = openMetrics(families(["job_name"]));
    for (let at = 0; at < 25_000; at += 1) meter([measure("runs_count", 1, of("mallory", at))]);
    meter([measure("runs_count", 1, of("default", 1))]);
    const lines = seriesIn(await render([]), "runs_count");
    assert.ok(lines.length > 5_000 && lines.length < 10_100, `${lines.length}`);
    assert.ok(lines.includes('runs_count{job_name="default/1"} 1'));
    const sum = lines.reduce((all, line) => all + Number(line.split(" ").at(-1)), 0);
    assert.equal(sum, 25_001);
  });

  test("of a gauge are counted anew at each scrape", async () => {
    const { render } = openMetrics(families(["job_name"]));
    const census = Array.from({ length: 15_000 }, (_, at) => measure("running_count", 1, of("mallory", at)));
    await render(census);
    const text = await render([measure("running_count", 1, of("mallory", 14_999))]);
    assert.ok(text.includes('running_count{job_name="mallory/14999"} 1'));
  });

  test("have short values", async () => {
    const { meter, render } = openMetrics(families(["job_name"]));
    meter([measure("runs_count", 1, { job_name: "x".repeat(100_000) })]);
    assert.ok((await render([])).length < 3_000);
  });
});
