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

/**
 * Returns one line per namespace, and more if a name has too many values. The metrics are those of the cluster, and of
 * each namespace in it.
 */
export const emfLines = (measures: readonly MetricSample[], { cluster, now }: About): readonly string[] => {
  const groups = Map.groupBy(measures, ({ of }) => of["namespace"] ?? "");
  const documents = [...groups].flatMap(([namespace, all]) => parted(all).map((own) => [namespace, own] as const));
  return documents.map(([namespace, own]) => {
    const sums = gathered(own);
    const metrics = [...sums.keys()].map((name) => ({ Name: name, Unit: unitOf(name) }));
    const dimensions = namespace === "" ? [["cluster"]] : [["cluster"], ["cluster", "namespace"]];
    return JSON.stringify({
      _aws: {
        Timestamp: now,
        CloudWatchMetrics: [{ Namespace: "Rekindle", Dimensions: dimensions, Metrics: metrics }],
      },
      cluster,
      ...(namespace === "" ? {} : { namespace }),
      ...labelsOf(own),
      ...Object.fromEntries(sums),
    });
  });
};

export const emfMeter =
  (print: (line: string) => void, cluster: string, now: () => number): Meter =>
  (measures) => {
    for (const line of emfLines(measures, { cluster, now: now() })) print(line);
  };
