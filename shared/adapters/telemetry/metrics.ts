/**
 * Metrics for Prometheus, kept by prom-client; counters and gauges exist from the beginning, at 0. Those of the
 * process itself have the usual names `process_*` and `nodejs_*`, and `go_goroutines`, which upstream's dashboards
 * read, is replaced by the closest metric of Node.js.
 */
import type { RecordableHistogram } from "node:perf_hooks";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry, Summary } from "prom-client";
import type { Figure, Labels, Meter, MetricSample } from "../../core/metric.ts";
import { openShare } from "../../core/share.ts";
import { startOf } from "../../core/text.ts";
import { openLoopDelays } from "./loop-delays.ts";

/** A metric, its labels, and the prefix of its name. */
export type Family = { readonly figure: Figure; readonly labels: readonly string[]; readonly prefix: string };

/** Returns a valid name, as upstream: characters that Prometheus does not accept become underscores. */
export const validName = (prefix: string, name: string): string => {
  const whole = prefix === "" ? name : `${prefix}_${name}`;
  return whole.replaceAll(/[^a-zA-Z0-9_]/g, "_").replace(/^(?=\d)/, "_");
};

type Kept = {
  /** Each label, and its valid name. */
  readonly labels: readonly (readonly [label: string, name: string])[];
  readonly add: (labels: Record<string, string>, value: number) => void;
  readonly reset: () => void;
  /** The sets of label values that are distinguished. */
  readonly labelSets: LabelSets;
};

/** The most sets of label values of one metric; the namespaces of the objects share them. */
const mostSets = 20_000;

/** The value that stands for those beyond the share of their namespace. */
const others = "(others)";

const longestValue = 253;

type LabelSets = {
  readonly of: (values: Record<string, string>, namespace: string) => Record<string, string>;
  readonly reset: () => void;
};

/** Bounds the sets of label values: tenants write them, and each is kept as long as the process lives. */
const openLabelSets = (): LabelSets => {
  const known = new Set<string>();
  let share = openShare(mostSets);
  return {
    of: (values, namespace) => {
      const id = JSON.stringify(values);
      if (known.has(id)) return values;
      if (!share.take(namespace, 1)) return Object.fromEntries(Object.keys(values).map((name) => [name, others]));
      known.add(id);
      return values;
    },
    reset: () => {
      known.clear();
      share = openShare(mostSets);
    },
  };
};

const opened = ({ figure, labels, prefix }: Family, registry: Registry): Kept => {
  const named = labels.map((label) => [label, validName("", label)] as const);
  const labelNames = named.map(([, name]) => name);
  const labelSets = openLabelSets();
  const options = { name: validName(prefix, figure.name), help: figure.help, labelNames, registers: [registry] };
  switch (figure.kind) {
    case "counter": {
      const counter = new Counter(options);
      return { labels: named, labelSets, add: (of, value) => counter.inc(of, value), reset: () => counter.reset() };
    }
    case "gauge": {
      const gauge = new Gauge(options);
      return { labels: named, labelSets, add: (of, value) => gauge.inc(of, value), reset: () => gauge.reset() };
    }
    case "summary": {
      const summary = new Summary({ ...options, percentiles: [] });
      return { labels: named, labelSets, add: (of, value) => summary.observe(of, value), reset: () => summary.reset() };
    }
    case "histogram": {
      const histogram = new Histogram({ ...options, ...(figure.buckets ? { buckets: [...figure.buckets] } : {}) });
      return {
        labels: named,
        labelSets,
        add: (of, value) => histogram.observe(of, value),
        reset: () => histogram.reset(),
      };
    }
  }
};

/** Returns the values of the labels; a label that an application lacks is Unknown, as upstream. */
const valuesOf = (labels: Kept["labels"], of: Labels): Record<string, string> =>
  Object.fromEntries(labels.map(([label, name]) => [name, startOf(of[label] ?? "Unknown", longestValue)]));

export type Metrics = {
  readonly meter: Meter;
  /** Renders all metrics. Gauges, and counters of existing objects, are set from `standing`; all others accumulate. */
  render(current: readonly MetricSample[]): Promise<string>;
  readonly contentType: string;
};

/** Sets counters and gauges to 0; a distribution appears with its first value. */
const zeroed = (kept: Kept, { figure: { kind } }: Family): void => {
  if (kind === "counter" || kind === "gauge") kept.add(valuesOf(kept.labels, {}), 0);
};

export const openMetrics = (families: readonly Family[]): Metrics => {
  const registry = new Registry();
  const kept = new Map(families.map((family) => [family.figure.name, opened(family, registry)]));
  const all = families.flatMap((family) => {
    const one = kept.get(family.figure.name);
    return one === undefined ? [] : [{ family, one }];
  });
  for (const { family, one } of all) zeroed(one, family);
  const add = ({ name, value, of }: MetricSample): void => {
    const one = kept.get(name);
    if (one !== undefined) one.add(one.labelSets.of(valuesOf(one.labels, of), of["namespace"] ?? ""), value);
  };
  return {
    meter: (measures) => measures.forEach(add),
    render: async (current) => {
      for (const { family, one } of all) {
        if (family.figure.kind !== "gauge" && family.figure.ofObjects !== true) continue;
        one.reset();
        one.labelSets.reset();
        zeroed(one, family);
      }
      current.forEach(add);
      return await registry.metrics();
    },
    contentType: registry.contentType,
  };
};

export type ProcessMetrics = {
  /** In the text format of Prometheus. */
  render(): Promise<string>;
};

/** The figures of the event loop's delays, under the names and with the help texts of prom-client. */
const delayFigures = [
  ["min", "The minimum recorded event loop delay.", ({ min }: RecordableHistogram) => min],
  ["max", "The maximum recorded event loop delay.", ({ max }: RecordableHistogram) => max],
  ["mean", "The mean of the recorded event loop delays.", ({ mean }: RecordableHistogram) => mean],
  ["stddev", "The standard deviation of the recorded event loop delays.", ({ stddev }: RecordableHistogram) => stddev],
  ...([50, 90, 99] as const).map(
    (part) =>
      [
        `p${part}`,
        `The ${part}th percentile of the recorded event loop delays.`,
        (delays: RecordableHistogram) => delays.percentile(part),
      ] as const,
  ),
] as const;

/** Replaces the figures that prom-client samples at all times. */
const replaceDelays = (registry: Registry): void => {
  const take = openLoopDelays();
  let delays = take();
  for (const [index, [word, help, of]] of delayFigures.entries()) {
    const name = `nodejs_eventloop_lag_${word}_seconds`;
    registry.removeSingleMetric(name);
    const gauge: Gauge = new Gauge({
      ...{ name, help, registers: [registry] },
      collect: () => {
        if (index === 0) delays = take();
        gauge.set(delays.count === 0 ? 0 : of(delays) / 1e9);
      },
    });
  }
};

/** So rarely that the samples of prom-client cost nothing, ms. */
const neverMs = 2 ** 31 - 1;

export const openProcessMetrics = (): ProcessMetrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  replaceDelays(registry);
  const goroutines: Gauge = new Gauge({
    name: "go_goroutines",
    help: "Work that this process has open: requests, connections and timers of Node.js. Not goroutines: it stands in for them in dashboards of upstream's operators, which read this name.",
    registers: [registry],
    collect: () => goroutines.set(process.getActiveResourcesInfo().length),
  });
  return { render: () => registry.metrics() };
};
