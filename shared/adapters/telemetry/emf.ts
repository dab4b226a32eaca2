/** Figures of a function as lines that CloudWatch turns into metrics (embedded metric format): no request, no library. */
import type { Measure, Meter } from "../../core/measure.ts";

/** A name may stand once in a document: what is told twice is summed. */
const summed = (measures: readonly Measure[]): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  for (const { name, value } of measures) sums.set(name, (sums.get(name) ?? 0) + value);
  return sums;
};

const unitOf = (name: string): string => (/_seconds(_histogram)?$/.test(name) ? "Seconds" : "Count");

/** One line per object that figures are of; `now` in epoch ms. */
export const emfLines = (measures: readonly Measure[], now: number): readonly string[] => {
  const groups = Map.groupBy(measures, ({ of }) => of["namespace"] ?? "");
  return [...groups].map(([namespace, own]) => {
    const sums = summed(own);
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
