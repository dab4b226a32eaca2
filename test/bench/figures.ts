/** The figures of a benchmark and their format: `name value unit (aim X[, missed])`. */

import * as z from "zod";

export const figureShape = z.object({
  name: z.string(),
  value: z.number(),
  unit: z.string(),
  /** The highest acceptable value; a miss is reported and is not a failure. */
  aim: z.number().exactOptional(),
  /** The least that the same work takes, measured in the same run by bare requests, in the same unit. */
  floor: z.number().exactOptional(),
});

export type Figure = Readonly<z.infer<typeof figureShape>>;

export const rounded = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);

export const figureLine = ({ name, value, unit, aim }: Figure): string => {
  const goal = aim === undefined ? "" : ` (aim ${aim}${value > aim ? ", missed" : ""})`;
  return `${name} ${rounded(value)} ${unit}${goal}`;
};

/** Returns the value that this part of all values does not exceed; NaN of none. */
export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? Number.NaN;
