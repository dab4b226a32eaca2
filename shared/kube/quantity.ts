/** Quantities as Kubernetes writes them, exact: `1`, `500m`, `1.5Gi`, `1e3`. Sums are written in their own format. */

/** An amount in billionths (`nano`), and the format in which sums of it are written. */
export type Quantity = { readonly nano: bigint; readonly format: "decimal" | "binary" | "exponent" };

const shape = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?$/;

const binary: Readonly<Record<string, bigint>> = {
  Ki: 2n ** 10n,
  Mi: 2n ** 20n,
  Gi: 2n ** 30n,
  Ti: 2n ** 40n,
  Pi: 2n ** 50n,
  Ei: 2n ** 60n,
};

const powers: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** Longer texts and larger exponents are no quantities. */
const longest = 64;
const largestPower = 64;

const ten = (power: number): bigint => 10n ** BigInt(power);

/** Divides and rounds away from zero, as Kubernetes rounds parts that are finer than it keeps. */
const divided = (by: bigint, number: bigint): bigint => (number + by - 1n) / by;

const scaled = (digits: bigint, power: number): bigint =>
  power >= 0 ? digits * ten(power) : divided(ten(-power), digits);

/** Reads a quantity, given as a text or a number; undefined when it is none. */
export const quantityOf = (value: unknown): Quantity | undefined => {
  const text = typeof value === "number" ? `${value}` : value;
  if (typeof text !== "string" || text.length > longest) return undefined;
  const [matched, sign, number = "", two = "", unit = "", exponent] = shape.exec(text) ?? [];
  const power = exponent === undefined ? (powers[unit] ?? 0) : Number(exponent);
  if (matched === undefined || Math.abs(power) > largestPower) return undefined;
  const [whole = "", fraction = ""] = number.split(".");
  const digits = BigInt(`${whole}${fraction}` || "0") * (binary[two] ?? 1n);
  const nano = scaled(digits, power + 9 - fraction.length);
  const format = two !== "" ? "binary" : exponent !== undefined ? "exponent" : "decimal";
  return { nano: sign === "-" ? -nano : nano, format };
};

/** True for a quantity that the API server accepts: `1`, `500m`, `1.5Gi`, `1e3`. */
export const isQuantity = (text: string): boolean => quantityOf(text) !== undefined;

/** The number of a quantity; undefined for an invalid one. */
export const amountOf = (text: string): number | undefined => {
  const quantity = quantityOf(text);
  return quantity === undefined ? undefined : Number(quantity.nano) / 1e9;
};

const one = 1_000_000_000n;

/** Units from the largest on: an amount is written in the first in which it is whole. */
const decimals: readonly (readonly [string, bigint])[] = [
  ...["E", "P", "T", "G", "M", "k"].map((unit): [string, bigint] => [unit, one * ten(powers[unit] ?? 0)]),
  ["", one],
  ["m", 1_000_000n],
  ["u", 1_000n],
  ["n", 1n],
];

const exponents: typeof decimals = decimals.map(([unit, size]) => {
  const power = powers[unit] ?? 0;
  return [power === 0 ? "" : `e${power}`, size];
});

const binaries: typeof decimals = [
  ...["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"].map((unit): [string, bigint] => [unit, one * (binary[unit] ?? 1n)]),
  ["", one],
];

const units = { decimal: decimals, binary: binaries, exponent: exponents } as const;

/** Writes an amount as the shortest text in its format; binary amounts that are not whole, in decimal. */
export const quantityText = ({ nano, format }: Quantity): string => {
  if (nano === 0n) return "0";
  const fits = ([, size]: readonly [string, bigint]): boolean => nano % size === 0n;
  const [unit, size] = units[format].find(fits) ?? decimals.find(fits) ?? ["n", 1n];
  return `${nano / size}${unit}`;
};

/** Returns the sum, in the format of the first amount that is not zero. */
export const plus = (a: Quantity, b: Quantity): Quantity => ({
  nano: a.nano + b.nano,
  format: a.nano === 0n ? b.format : a.format,
});

export const larger = (a: Quantity, b: Quantity): Quantity => (b.nano > a.nano ? b : a);

export const times = ({ nano, format }: Quantity, count: number): Quantity => ({ nano: nano * BigInt(count), format });
