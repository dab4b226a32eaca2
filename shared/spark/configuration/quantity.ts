/** Amounts of Spark and Kubernetes: sizes like `512m`, quantities like `500m` or `1Gi`, ratios like `0.1`. */

const sizes: Readonly<Record<string, number>> = {
  b: 1,
  k: 2 ** 10,
  kb: 2 ** 10,
  m: 2 ** 20,
  mb: 2 ** 20,
  g: 2 ** 30,
  gb: 2 ** 30,
  t: 2 ** 40,
  tb: 2 ** 40,
  p: 2 ** 50,
  pb: 2 ** 50,
};

/**
 * The bytes of a size as Spark reads it; a number alone counts `unit`s (a key of the table, `b` or `m`). Kubernetes'
 * units (`Mi`) are read too; Spark versions without them refuse them. Undefined for an invalid size.
 */
export const bytesOf = (text: string, unit: "b" | "k" | "m"): number | undefined => {
  const match = /^(\d+)([a-z]+)?$/.exec(text.trim().toLowerCase());
  const factor = sizes[(match?.[2] ?? unit).replace(/^([kmgtp])ib?$/, "$1")];
  return match?.[1] === undefined || factor === undefined ? undefined : Number(match[1]) * factor;
};

/** The size in whole MiB, rounded down as Spark does; a number alone counts MiB. */
export const mebibytesOf = (text: string): number | undefined => {
  const bytes = bytesOf(text, "m");
  return bytes === undefined ? undefined : Math.floor(bytes / 2 ** 20);
};

/** True for a size in units that only newer versions of Spark read. */
export const hasBinaryUnit = (text: string): boolean => /^\d+[kmgtp]ib?$/.test(text.trim().toLowerCase());

/** True for a quantity that the API server accepts: `1`, `500m`, `1.5Gi`, `1e3`. */
export const isQuantity = (text: string): boolean =>
  /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]?|[eE][+-]?\d+)$/.test(text);

const multiples: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** The number of a Kubernetes quantity; undefined for an invalid one. */
export const amountOf = (text: string): number | undefined => {
  if (!isQuantity(text)) return undefined;
  const unit = /[KMGTPE]i$|[numkMGTPE]$/.exec(text)?.[0] ?? "";
  return Number(text.slice(0, text.length - unit.length)) * (multiples[unit] ?? 1);
};

/** The number as Java's Double reads it, or undefined. */
export const ratioOf = (text: string): number | undefined =>
  /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[fFdD]?\s*$/.test(text) ? Number.parseFloat(text) : undefined;
