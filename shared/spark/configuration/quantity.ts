/** Amounts as Spark reads them: sizes like `512m`, ratios like `0.1`. */

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

/** The number as Java's Double reads it, or undefined. */
export const ratioOf = (text: string): number | undefined =>
  /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[fFdD]?\s*$/.test(text) ? Number.parseFloat(text) : undefined;
