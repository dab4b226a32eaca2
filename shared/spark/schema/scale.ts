/** Bounds of dynamic allocation: errors that Spark's driver would find at its start are reported before. */

export type Scale = {
  readonly enabled?: boolean | undefined;
  readonly initialExecutors?: number | undefined;
  readonly minExecutors?: number | undefined;
  readonly maxExecutors?: number | undefined;
};

const at = "spec.dynamicAllocation";

const exceeds = (one: number | undefined, other: number | undefined): boolean =>
  one !== undefined && other !== undefined && one > other;

/** Errors with which no driver starts; `least` is the smallest valid maximum. */
export const scaleRules = (scale: Scale | undefined, least: 0 | 1): string[] => {
  if (scale?.enabled !== true) return [];
  const { minExecutors: min, maxExecutors: max, initialExecutors: first } = scale;
  const floors = [
    ["minExecutors", min, 0],
    ["maxExecutors", max, least],
    ["initialExecutors", first, 0],
  ] as const;
  return [
    ...floors.flatMap(([name, count, floor]) =>
      exceeds(floor, count) ? [`${at}.${name} must be at least ${floor}, not ${count}`] : [],
    ),
    ...(exceeds(min, max) ? [`${at}.minExecutors (${min}) is greater than maxExecutors (${max})`] : []),
  ];
};

/** Errors of an initial number outside the bounds: Spark takes the nearest, upstream refuses it for SparkConnect. */
export const scaleOddities = (scale: Scale | undefined): string[] => {
  if (scale?.enabled !== true) return [];
  const { minExecutors: min, maxExecutors: max, initialExecutors: first } = scale;
  return [
    ...(exceeds(min, first) ? [`${at}.initialExecutors (${first}) is less than minExecutors (${min})`] : []),
    ...(exceeds(first, max) ? [`${at}.initialExecutors (${first}) is greater than maxExecutors (${max})`] : []),
  ];
};
