/** How a benchmark says what it measured: `name value unit (aim X[, missed])`. */

export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** At most this is aimed at; a miss is told, never a failure. */
  readonly aim?: number;
};

const rounded = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2));

export const figureLine = ({ name, value, unit, aim }: Figure): string => {
  const goal = aim === undefined ? "" : ` (aim ${aim}${value > aim ? ", missed" : ""})`;
  return `${name} ${rounded(value)} ${unit}${goal}`;
};
