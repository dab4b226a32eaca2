/** The figures in README and in the page of benchmarks are those of `published.json`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Published, pageOf, publishedFigures, withFigures } from "./published.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

const fairness = (value: number, others: number): Published => ({
  fairness: {
    ...{ measuredAt: "2026-01-01T00:00:00.000Z", others },
    figures: [
      { name: "fairness.ten-alone", value: 90, unit: "ms" },
      { name: "fairness.ten-while-10000-are-created", value, unit: "ms", aim: 180 },
      { name: "fairness.ten-behind-10000", value: 95.25, unit: "ms" },
    ],
  },
});

const rowOf = (text: string): string | undefined =>
  text.split("\n").find((line) => line.startsWith("| `npm run bench -- fairness` |"));

test("README has the figures that were measured last", () => {
  assert.ok(Object.keys(publishedFigures()).length > 0);
  assert.equal(withFigures(readme, publishedFigures()), readme);
});

test("the page of figures has those that were measured last, with floors, aims and misses", () => {
  const page = readFileSync(new URL("../../shared/docs/benchmarks.md", import.meta.url), "utf8");
  assert.equal(page, pageOf(publishedFigures()));
  const figures = [
    { name: "a.made", value: 3, unit: "s", floor: 1.5, aim: 2 },
    { name: "a.writes", value: 1200, unit: "writes", aim: 1200 },
  ];
  const lines = pageOf({ a: { measuredAt: "2026-01-02T03:04:05.000Z", others: 0.2, figures } }).split("\n");
  assert.deepEqual(lines.slice(-8, -1), [
    ...["", "Measured on 2026-01-02, other processes took 20 % of the processors.", ""],
    ...["| figure | value | floor | aim |", "|---|---|---|---|"],
    "| `a.made` | 3.00 s | 1.50, 2.00 times | 2.00, missed |",
    "| `a.writes` | 1,200 writes |  | 1,200 |",
  ]);
});

test("a row has the figures of its part, and says how loaded the machine was", () => {
  const quiet = rowOf(withFigures(readme, fairness(123.4, 0.01)));
  assert.match(quiet ?? "", /after 90\.0 ms alone, 123 ms while .* and 95\.3 ms behind these \|$/);
  const loaded = rowOf(withFigures(readme, fairness(123.4, 0.12)));
  assert.match(loaded ?? "", /behind these; other processes took 12 % of the processors \|$/);
});

test("what is counted has no decimals", () => {
  const figures = [
    { name: "settled.100000.start.writes", value: 0, unit: "writes" },
    { name: "settled.100000.start.host-cpu", value: 22.14, unit: "s" },
    { name: "settled.100000.start.host-peak-rss", value: 304, unit: "MiB" },
    { name: "settled.100000.rest.host-cpu-a-minute", value: 0.41, unit: "s" },
  ];
  const all = { settled: { measuredAt: "2026-01-01T00:00:00.000Z", others: 0, figures } };
  assert.match(
    withFigures(readme, all),
    /applications: 0 writes, 22\.1 s CPU, 304 MiB; at rest 0\.41 s CPU a minute \|/,
  );
});

test("a figure that is missing, and a row that README lacks, are errors", () => {
  const lacking = fairness(100, 0);
  const { fairness: part } = lacking;
  assert.ok(part);
  assert.throws(() => withFigures(readme, { fairness: { ...part, figures: part.figures.slice(1) } }), {
    message: "the part fairness has no figure fairness.ten-alone",
  });
  assert.throws(() => withFigures("# Rekindle\n", lacking), {
    message: "README has no row for npm run bench -- fairness",
  });
});
