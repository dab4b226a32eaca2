/** What happened to an object once and is shown as long as the object is there: the process that told it remembers it. */

import { forgetOldest } from "../../core/bounded-map.ts";
import type { Figure, MetricSample } from "../../core/metric.ts";

/** Objects that are remembered of each figure; of more, those told first are forgotten. */
const mostObjects = 10_000;

export type Lasting = {
  /** Keeps what lasts of these; the rest is what passes by. */
  past(measures: readonly MetricSample[]): readonly MetricSample[];
  /** The census with every place taken by what is known of its object; a place of which nothing is known is none. */
  among(census: readonly MetricSample[]): readonly MetricSample[];
};

const uidOf = ({ of }: MetricSample): string => of["uid"] ?? "";

/** The first of a version stays; a later version's takes its place, as the latest. */
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
