/** The Workloads of Kueue whose quota the executors of an application use. Pure. */
import type { Detail, Grant, Lane } from "./wire.ts";

type Known = Pick<Detail, "lanes" | "grants">;

/**
 * Returns for each pod of a living executor the place of its Workload in `grants`. Kueue counts the executors of a flavor,
 * and Rekindle those on each flavor: the base has the lowest ids, and the oldest growth the next. An executor beyond all
 * of them, as after an eviction, has none.
 */
export const grantOfPods = ({ lanes, grants = [] }: Known): ReadonlyMap<string, number> => {
  const newest = Math.max(0, ...lanes.map(({ attempt }) => attempt));
  const left = grants.map(({ executors }) => executors);
  const takes = ({ flavors = "" }: Lane): number => {
    const at = grants.findIndex((grant, index) => grant.flavors === flavors && (left[index] ?? 0) > 0);
    if (at >= 0) left[at] = (left[at] ?? 0) - 1;
    return at;
  };
  return new Map(
    lanes
      .filter(({ role, end, attempt }) => role === "executor" && end === undefined && attempt === newest)
      .toSorted((a, b) => a.id - b.id)
      .flatMap((lane) => {
        const at = takes(lane);
        return at < 0 ? [] : [[lane.pod, at] as const];
      }),
  );
};

/** The number by which the timeline names a Workload. */
export const grantMark = (at: number): string => `W${at + 1}`;

export const grantText = ({ workload, executors, isBase }: Grant, at: number): string =>
  `${grantMark(at)} ${workload}${isBase ? ", the base" : ""}: ${executors}`;

/** The number of colours; their rows repeat after it. */
export const grantColours = 6;
