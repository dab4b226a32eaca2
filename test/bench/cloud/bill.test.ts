/** Tests the arithmetic of the cost table: each price counts once, and the table follows from the measurements. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { applicationOf, type Measured, notesOf, tableOf } from "./bill.ts";
import { leastOf, restOf, restTable, totalOf } from "./rest.ts";
import { dollars, none, part, plus, type Use } from "./use.ts";
import { alarmMetrics, dashboards, restingGauges } from "./used.ts";

const million = 1_000_000;

const rows: readonly (readonly [use: Partial<Use>, usd: number])[] = [
  [{}, 0],
  [{ invocations: million }, 0.2],
  [{ gigabyteSeconds: million }, 13.3334],
  [{ sqs: million }, 0.5],
  [{ writes: million }, 0.625],
  [{ reads: million }, 0.125],
  [{ logBytes: 1e9 }, 0.5],
  [{ api: million }, 0],
];

const measured: Measured = {
  life: { ...none, invocations: 3 },
  executor: { ...none, invocations: 2 },
  loss: { ...none, invocations: 4, gigabyteSeconds: 1 },
  resync: none,
  host: { p50: 0.05, worst: 0.2 },
  functions: { p50: 0.1, worst: 0.9 },
  forwardStart: 1.1,
  lookStart: 0.1,
  hostCpu: 0.02,
  alarms: 30,
  fewAlarms: 3,
  gauges: 2,
  dashboards: 1,
};

/** Returns the cells of the row that begins with this name. */
const cells = (name: string): readonly string[] =>
  tableOf(measured)
    .find((line) => line.startsWith(`| ${name}`))
    ?.split(" | ")
    .map((cell) => cell.replaceAll("|", "").trim()) ?? [];

describe("the bill", () => {
  for (const [use, usd] of rows) {
    test(`of ${JSON.stringify(use)} is US$ ${usd}`, () => assert.equal(dollars({ ...none, ...use }), usd));
  }

  test("of an application is its life, ten executors, and a loss", () => {
    assert.equal(applicationOf(measured).invocations, 3 + 10 * 2 + 4);
    assert.equal(dollars(applicationOf(measured)), (27 * 0.2 + 13.3334) / million);
    assert.equal(part(plus(measured.life, measured.life), 2).invocations, 3);
  });

  test("of a month at rest: a pod; its pod and functions; windows and functions", () => {
    // 1,314,000 polls of FIFO queues, 262,800 of the standard one; 30 metrics of alarms, 2 of gauges; a dashboard; a secret; 52,560 reads of depths. 43,800 windows of 51.1 s at half a GB.
    const lambda = (1.314 * 0.5 + 0.2628 * 0.4 + 3 + 0.6 + 3 + 0.4 + 0.00876 * 2 * 1.4).toFixed(2);
    const pod = (730 * (0.25 * 0.04048 + 0.5 * 0.004445)).toFixed(2);
    const windows = ((43_800 * (51.1 * 0.5 * 13.3334 + 0.2)) / million).toFixed(2);
    const [, host, forwarder, windowed] = cells("US$ a month");
    assert.ok(host?.startsWith(`${pod} `), host);
    assert.ok(forwarder?.endsWith(`${lambda}²`), forwarder);
    assert.ok(windowed?.endsWith(`= ${windows}³ + ${lambda}²`), windowed);
  });

  test("of a month at rest names each part, its formula and who pays it, and a dispatcher pays for its pod alone", () => {
    const lines = restTable(measured).map((line) => line.split(" | ").map((one) => one.replaceAll("|", "").trim()));
    const costs = (name: string) => lines.find(([first]) => first === name)?.slice(1, 6);
    assert.deepEqual(costs("polls of queues"), ["-", "0.76", "0.76", "0.76", "-"]);
    assert.deepEqual(costs("alarms"), ["-", "3.00", "3.00", "3.00", "-"]);
    assert.deepEqual(costs("gauges"), ["-", "0.60", "0.60", "0.60", "-"]);
    assert.deepEqual(costs("**without the pod**"), ["0.00", "7.79", "22.72", "7.79", "0.00"]);
    assert.deepEqual(costs("depths of queues"), ["-", "0.02", "0.02", "0.02", "-"]);
    // 657,000 polls of a FIFO queue, 262,800 of the standard one; three metrics of alarms; 35,040 reads of depths; looks of 0.6 s at half a GB.
    assert.deepEqual(costs("**without the pod, by the parameters that save most**"), [
      "0.00",
      "0.75",
      "0.93",
      "0.75",
      "0.00",
    ]);
    assert.deepEqual(costs("pod on Fargate"), ["9.01", "9.01", "-", "-", "9.01"]);
    assert.deepEqual(costs("**with the pod on Fargate**"), ["9.01", "16.80", "22.72", "7.79", "9.01"]);
    const rows = lines.filter(([first]) => first?.startsWith("---") === false);
    assert.deepEqual(
      rows.filter((cells) => cells.length !== 7 || cells.includes("")),
      [],
    );
    assert.equal(totalOf(restOf(measured), "dispatcher"), 0);
  });

  test("of a month at rest is below one US$ by the parameters that save most, beside a forwarder and with looks", () => {
    const [beside, looking] = [leastOf(measured, "forwarder"), leastOf(measured, "windowed")];
    // 8,760 resyncs read the depths of two queues of each type.
    const rest = 0.657 * 0.5 + 0.2628 * 0.4 + 0.3 + 0.00876 * 2 * 0.9;
    assert.equal(beside.toFixed(4), rest.toFixed(4));
    assert.equal(looking.toFixed(4), (rest + (43_800 * (0.6 * 0.5 * 13.3334 + 0.2)) / million).toFixed(4));
    assert.ok(beside < 1 && looking < 1);
  });

  test("counts alarms, dashboards and the gauges of a quiet cluster from the template and the code", () => {
    const text = readFileSync(new URL("../../../infra/aws/template.yaml", import.meta.url), "utf8");
    assert.equal(dashboards(), text.split("Type: AWS::CloudWatch::Dashboard").length - 1);
    assert.ok(alarmMetrics() >= text.split("Type: AWS::CloudWatch::Alarm").length - 1);
    assert.equal(alarmMetrics(true), 3);
    // The state of two open queues is one metric.
    assert.equal(restingGauges(), 1);
  });

  test("says what a pause costs in reaction", () => {
    assert.match(cells("reaction, worst")[3] ?? "", /^12\.0 s = pause 10 s \+ start 1\.1 s \+ 900 ms$/);
    assert.deepEqual(cells("reaction, p50").slice(1, 3), ["50 ms", "100 ms"]);
  });

  test("has its prices, their region and their date in one line", () => {
    const line = notesOf(measured).at(-1) ?? "";
    assert.match(
      line,
      /^Prices: us-east-1, November 2026, no free tier: 0\.2 per 1,000,000 invocations \(lambda\/pricing\); 13\.3334 per/,
    );
  });
});
