/**
 * Writes a function's metrics as lines that CloudWatch turns into metrics (embedded metric format): without a request
 * or a library.
 */
import type { Meter, MetricSample } from "../../core/metric.ts";

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
  const told = new Map<string, number>();
  for (const measure of measures) {
    const times = told.get(measure.name) ?? 0;
    told.set(measure.name, times + 1);
    const part = measure.do === "observe" ? Math.floor(times / mostValues) : 0;
    parts[part] = [...(parts[part] ?? []), measure];
  }
  return parts;
};

/** Returns one line per namespace, and more if a name has too many values; `now` in epoch ms. */
export const emfLines = (measures: readonly MetricSample[], now: number): readonly string[] => {
  const groups = Map.groupBy(measures, ({ of }) => of["namespace"] ?? "");
  const documents = [...groups].flatMap(([namespace, all]) => parted(all).map((own) => [namespace, own] as const));
  return documents.map(([namespace, own]) => {
    const sums = gathered(own);
    const metrics = [...sums.keys()].map((name) => ({ Name: name, Unit: unitOf(name) }));
    const dimensions = namespace === "" ? [[]] : [["namespace"]];
    return JSON.stringify({
      _aws: {
        Timestamp: now,
        CloudWatchMetrics: [{ Namespace: "Rekindle", Dimensions: dimensions, Metrics: metrics }],
      },
      ...(namespace === "" ? {} : { namespace }),
      ...Object.fromEntries(sums),
    });
  });
};

export const emfMeter =
  (print: (line: string) => void, now: () => number): Meter =>
  (measures) => {
    for (const line of emfLines(measures, now())) print(line);
  };
