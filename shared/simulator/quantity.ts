/** Quantities as numbers, and numbers as the quantities that the server writes. */
const units: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** A quantity as a number. */
export const amount = (value: unknown): number => {
  const [, digits = "0", unit = ""] = /^([+-]?[0-9.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(value ?? "0")) ?? [];
  return Number(digits) * (units[unit] ?? 1);
};

const binary = ["Pi", "Ti", "Gi", "Mi", "Ki"] as const;
const decimal = ["P", "T", "G", "M", "k"] as const;

/** A number in the largest unit in which it is whole. */
export const quantity = (value: number, inBytes: boolean): string => {
  if (value === 0) return "0";
  if (!Number.isInteger(value)) return `${Math.ceil(value * 1000 - 1e-6)}m`;
  const unit = (inBytes ? binary : decimal).find((each) => value % (units[each] ?? 1) === 0);
  return unit === undefined ? String(value) : `${value / (units[unit] ?? 1)}${unit}`;
};
