/** Metrics of the process: the names that upstream's test and common dashboards read. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openProcessMetrics } from "../../../../shared/adapters/telemetry/metrics.ts";

const figureOf = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);

const figures = [
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_virtual_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_min_seconds",
  "nodejs_eventloop_lag_max_seconds",
  "nodejs_eventloop_lag_mean_seconds",
  "nodejs_eventloop_lag_stddev_seconds",
  "nodejs_eventloop_lag_p50_seconds",
  "nodejs_eventloop_lag_p90_seconds",
  "nodejs_eventloop_lag_p99_seconds",
  "go_goroutines",
];

describe("metrics of the process", () => {
  for (const name of figures)
    test(`${name} has a value, a help text and a type`, async () => {
      const text = await openProcessMetrics().render();
      assert.match(text, new RegExp(`^# HELP ${name} \\S`, "m"));
      assert.match(text, new RegExp(`^# TYPE ${name} (counter|gauge)$`, "m"));
      assert.ok(figureOf(text, name) >= 0, text);
    });

  test("the help of go_goroutines says that the value counts no goroutines", async () => {
    assert.match(await openProcessMetrics().render(), /^# HELP go_goroutines .*Not goroutines/m);
  });

  test("the CPU seconds grow with computation", async () => {
    const { render } = openProcessMetrics();
    const before = figureOf(await render(), "process_cpu_seconds_total");
    const until = process.cpuUsage().user + 50_000;
    while (process.cpuUsage().user < until) Math.sqrt(until);
    assert.ok(figureOf(await render(), "process_cpu_seconds_total") > before);
  });
});
