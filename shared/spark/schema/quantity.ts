/** Amounts as Spark and as Kubernetes write them: sizes like `512m`, quantities like `500m` or `1Gi`, ratios like `0.1`. */

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

/** Bytes of a size as Spark reads it; a number alone counts `unit`s (a key of the table, `b` or `m`). Undefined when it is none. */
export const bytesOf = (text: string, unit: "b" | "k" | "m"): number | undefined => {
  const match = /^(\d+)([a-z]+)?$/.exec(text.trim().toLowerCase());
  const factor = sizes[match?.[2] ?? unit];
  return match?.[1] === undefined || factor === undefined ? undefined : Number(match[1]) * factor;
};

/** The same in whole MiB, rounded down as Spark does; a number alone counts MiB. */
export const mebibytesOf = (text: string): number | undefined => {
  const bytes = bytesOf(text, "m");
  return bytes === undefined ? undefined : Math.floor(bytes / 2 ** 20);
};

/** True for what the API server takes as a quantity of its own: `1`, `500m`, `1.5Gi`, `1e3`. */
export const isQuantity = (text: string): boolean =>
  /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]?|[eE][+-]?\d+)$/.test(text);

/** The number that Java's Double would read, or undefined. */
export const ratioOf = (text: string): number | undefined =>
  /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[fFdD]?\s*$/.test(text) ? Number.parseFloat(text) : undefined;
