/**
 * Writes a function's metrics as lines that CloudWatch turns into metrics (embedded metric format): without a request
 * or a library.
 */
import type { Labels, Meter, MetricSample } from "../../core/metric.ts";

/** The most values of one name in a document. */
const mostValues = 100;

/**
 * Merges the samples of each name, which may occur only once in a document: counts are summed, observations become a
 * list.
 */
const gathered = (measures: readonly MetricSample[]): ReadonlyMap<string, number | readonly number[]> => {
  const byName = Map.groupBy(measures, ({ name }) => name);
  return new Map(
    [...byName].map(([name, ones]): readonly [string, number | readonly number[]] => {
      const values = ones.map(({ value }) => value);
      const [first] = ones;
      if (first?.do === "observe" && values.length > 1) return [name, values];
      return [name, values.reduce((sum, value) => sum + value, 0)];
    }),
  );
};

const units = [
  [/_seconds(_histogram)?$/, "Seconds"],
  [/_milliseconds$/, "Milliseconds"],
] as const;

const unitOf = (name: string): string => units.find(([form]) => form.test(name))?.[1] ?? "Count";

/** Splits the samples into as many documents as their values need. */
const parted = (measures: readonly MetricSample[]): readonly (readonly MetricSample[])[] => {
  const parts: MetricSample[][] = [[]];
  const counts = new Map<string, number>();
  for (const measure of measures) {
    const times = counts.get(measure.name) ?? 0;
    counts.set(measure.name, times + 1);
    const part = measure.do === "observe" ? Math.floor(times / mostValues) : 0;
    parts[part] = [...(parts[part] ?? []), measure];
  }
  return parts;
};

/** Returns the labels that all samples of a document have, which are no dimensions: each would be a metric of its own. */
const labelsOf = ([first, ...others]: readonly MetricSample[]): { readonly labels?: Labels } => {
  const common = Object.entries(first?.of ?? {}).filter(
    ([name, value]) => name !== "namespace" && others.every(({ of }) => of[name] === value),
  );
  return common.length === 0 ? {} : { labels: Object.fromEntries(common) };
};

/** The subject of a meter's lines: the cluster, by its alias, and the time, epoch ms. */
type About = { readonly cluster: string; readonly now: number };

type Document = {
  readonly dimensions: readonly (readonly string[])[];
  /** The values of the dimensions, and what else the line says. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly values: ReadonlyMap<string, number | readonly number[]>;
  readonly now: number;
};

const documentOf = ({ dimensions, fields, values, now }: Document): string => {
  const metrics = [...values.keys()].map((name) => ({ Name: name, Unit: unitOf(name) }));
  return JSON.stringify({
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [{ Namespace: "Rekindle", Dimensions: dimensions, Metrics: metrics }],
    },
    ...fields,
    ...Object.fromEntries(values),
  });
};

/**
 * Returns one line per namespace, and more if a name has too many values. The metrics are those of the cluster, and of
 * each namespace in it.
 */
export const emfLines = (measures: readonly MetricSample[], { cluster, now }: About): readonly string[] => {
  const groups = Map.groupBy(measures, ({ of }) => of["namespace"] ?? "");
  const documents = [...groups].flatMap(([namespace, all]) => parted(all).map((own) => [namespace, own] as const));
  return documents.map(([namespace, own]) =>
    documentOf({
      dimensions: namespace === "" ? [["cluster"]] : [["cluster"], ["cluster", "namespace"]],
      fields: { cluster, ...(namespace === "" ? {} : { namespace }), ...labelsOf(own) },
      values: gathered(own),
      now,
    }),
  );
};

export const emfMeter =
  (print: (line: string) => void, cluster: string, now: () => number): Meter =>
  (measures) => {
    for (const line of emfLines(measures, { cluster, now: now() })) print(line);
  };

/** The most values of a label that a gauge distinguishes: CloudWatch bills each set of values as a metric of its own. */
const mostLabelValues = 10;

/** The value that stands for those beyond the first. */
const others = "(others)";

/** CloudWatch takes up to 1024 characters of printable ASCII that are not all blank. */
const longestValue = 253;

const dimensionValue = (text = ""): string => {
  const shown = text
    .slice(0, longestValue)
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .trim();
  return shown === "" ? "Unknown" : shown;
};

/** The values of one label that are distinguished: those of the most samples, and by name among equals. */
const toldApart = (samples: readonly MetricSample[], label: string): ReadonlySet<string> => {
  const counts = new Map<string, number>();
  for (const { of } of samples) {
    const value = dimensionValue(of[label]);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const ranked = [...counts].sort(([one, much], [other, more]) => more - much || (one < other ? -1 : 1));
  return new Set(ranked.slice(0, mostLabelValues).map(([value]) => value));
};

/** A gauge as CloudWatch gets it: its name and its labels, which become dimensions beside the cluster. */
export type DimensionedGauge = { readonly name: string; readonly labels: readonly string[] };

/** Units differ from resource to resource, so amounts of several resources have no sum. */
const withoutSum = "resource";

/** The non-zero samples of a gauge, each with the label values under which it is sent. */
const seriesOf = ({ name, labels }: DimensionedGauge, all: readonly MetricSample[]) => {
  const samples = all.filter((sample) => sample.name === name && sample.value !== 0);
  const known = new Map(labels.map((label) => [label, toldApart(samples, label)]));
  return samples.flatMap(({ value, of }) => {
    const values = labels.map((label): readonly [string, string] => {
      const own = dimensionValue(of[label]);
      return [label, known.get(label)?.has(own) === true ? own : others];
    });
    if (values.some(([label, own]) => label === withoutSum && own === others)) return [];
    return [{ name, values, value }];
  });
};

/**
 * Returns the lines of gauges: one for each set of label values, which are dimensions beside the cluster. Samples of
 * one set are summed. A gauge of 0 is no line, because CloudWatch bills a metric by the hours in which it is sent. Each
 * label has at most ten values and `(others)`; of resources the others are left out.
 */
export const gaugeLines = (
  gauges: readonly DimensionedGauge[],
  samples: readonly MetricSample[],
  { cluster, now }: About,
): readonly string[] => {
  const series = gauges.flatMap((gauge) => seriesOf(gauge, samples));
  const documents = Map.groupBy(series, ({ values }) => JSON.stringify(values));
  return [...documents.values()].map((own) => {
    const sums = new Map<string, number>();
    for (const { name, value } of own) sums.set(name, (sums.get(name) ?? 0) + value);
    const labels = own[0]?.values ?? [];
    const dimensions = [["cluster", ...labels.map(([label]) => label)]];
    return documentOf({ dimensions, fields: { cluster, ...Object.fromEntries(labels) }, values: sums, now });
  });
};
