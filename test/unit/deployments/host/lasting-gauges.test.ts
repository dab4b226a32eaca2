/** Lasting gauges: a metric of an object's past is exported while the object exists, with its latest labels only. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Figure, MetricSample } from "../../../../shared/core/metric.ts";
import { openLasting } from "../../../../shared/deployments/host/metrics.ts";

const figures: readonly Figure[] = [
  { name: "took", help: "h", kind: "gauge", lasting: true },
  { name: "runs", help: "h", kind: "gauge" },
];

const took = (uid: string, version: string, value: number): MetricSample => ({
  do: "observe",
  name: "took",
  value,
  of: { uid, version },
});

const place = (uid: string): MetricSample => ({ do: "count", name: "took", value: 0, of: { uid } });
const other: MetricSample = { do: "count", name: "runs", value: 1, of: {} };

const values = (measures: readonly MetricSample[]): readonly string[] =>
  measures.map(({ name, value, of }) => `${name} ${of["uid"] ?? ""} ${value}`);

test("a lasting gauge is held back and exported for its object, and other samples pass", () => {
  const lasting = openLasting(figures);
  assert.deepEqual(lasting.past([took("a", "0", 5), other]), [other]);
  assert.deepEqual(values(lasting.among([other, place("a")])), ["runs  1", "took a 5"]);
});

test("an object without a known value exports no lasting gauge", () =>
  assert.deepEqual(values(openLasting(figures).among([place("a"), other])), ["runs  1"]));

test("a lasting gauge of a deleted object is exported neither for it nor for another of its name", () => {
  const lasting = openLasting(figures);
  lasting.past([took("a", "0", 5)]);
  assert.deepEqual(values(lasting.among([place("b")])), []);
});

test("a lasting gauge keeps the first value of a version, until the next version's", () => {
  const lasting = openLasting(figures);
  lasting.past([took("a", "0", 5), took("a", "0", 7)]);
  assert.deepEqual(values(lasting.among([place("a")])), ["took a 5"]);
  lasting.past([took("a", "1", 9)]);
  assert.deepEqual(values(lasting.among([place("a")])), ["took a 9"]);
});

test("lasting gauges are bounded, and the oldest one is evicted", () => {
  const lasting = openLasting(figures);
  lasting.past(Array.from({ length: 10_000 }, (_, at) => took(`${at}`, "0", at)));
  lasting.past([took("0", "1", 7), took("last", "0", 8)]);
  assert.deepEqual(values(lasting.among([place("0"), place("1"), place("2"), place("last")])), [
    "took 0 7",
    "took 2 2",
    "took last 8",
  ]);
});
