/**
 * Metrics of one-time occurrences, shown as long as their object exists. The process in which one occurred remembers
 * it.
 */

import { forgetOldest } from "../../core/bounded-map.ts";
import type { Figure, MetricSample } from "../../core/metric.ts";

/** The most objects per metric; beyond that, the oldest are dropped. */
const mostObjects = 10_000;

export type Lasting = {
  /** Remembers the lasting samples, and returns the others. */
  past(measures: readonly MetricSample[]): readonly MetricSample[];
  /** Replaces each lasting sample of the census by the remembered one of its object, and drops those without one. */
  among(census: readonly MetricSample[]): readonly MetricSample[];
};

const uidOf = ({ of }: MetricSample): string => of["uid"] ?? "";

/** Keeps the first sample of a version. A sample of another version replaces it and counts as the newest. */
const remember = (known: Map<string, MetricSample>, measure: MetricSample): void => {
  const uid = uidOf(measure);
  if (known.get(uid)?.of["version"] === measure.of["version"]) return;
  known.delete(uid);
  known.set(uid, measure);
  forgetOldest(known, mostObjects);
};

export const openLasting = (figures: readonly Figure[]): Lasting => {
  const kept = new Map(
    figures.flatMap(({ name, lasting }) =>
      lasting === true ? [[name, new Map<string, MetricSample>()] as const] : [],
    ),
  );
  return {
    past: (measures) =>
      measures.filter((measure) => {
        const known = kept.get(measure.name);
        if (known !== undefined) remember(known, measure);
        return known === undefined;
      }),
    among: (census) =>
      census.flatMap((measure) => {
        const known = kept.get(measure.name);
        return known === undefined ? [measure] : (known.get(uidOf(measure)) ?? []);
      }),
  };
};
