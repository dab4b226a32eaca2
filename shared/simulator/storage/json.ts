/** JSON values of unknown shape, and quantities: reads and compares them; nothing here throws on the wrong shape. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path of keys, or undefined. Own properties only: `__proto__` is a name like any other. */
export const at = (value: unknown, ...path: readonly string[]): unknown => {
  let here: unknown = value;
  for (const key of path) {
    if (!isFields(here) || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
};

export const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
};

export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined => {
  const found = at(value, ...path);
  return typeof found === "number" ? found : undefined;
};

const noFields: Fields = Object.freeze({});
const noItems: readonly unknown[] = Object.freeze([]);

/** The fields at a path; none when there is no object. */
export const fieldsAt = (value: unknown, ...path: readonly string[]): Fields => {
  const found = at(value, ...path);
  return isFields(found) ? found : noFields;
};

/** The items at a path; none when there is no list. */
export const itemsAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : noItems;
};

/** String values only, such as labels, annotations and ConfigMap data. */
export const textsAt = (value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fieldsAt(value, ...path)).flatMap(([key, item]) => (typeof item === "string" ? [[key, item]] : [])),
  );

const sameLists = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, i) => same(item, b[i]));

const sameFields = (a: Fields, b: Fields): boolean => {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
};

/** Deep equality of JSON values; the order of keys does not matter. */
export const same = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && sameLists(a, b);
  return isFields(a) && isFields(b) && sameFields(a, b);
};

/** A copy with one field set, or left out when the value is undefined. Safe for any name. */
export const withField = (fields: Fields, key: string, value: unknown): Fields => {
  const rest = Object.entries(fields);
  const i = rest.findIndex(([name]) => name === key);
  if (value === undefined) return i < 0 ? fields : Object.fromEntries(rest.toSpliced(i, 1));
  if (i < 0) return Object.fromEntries([...rest, [key, value]]);
  return Object.fromEntries(rest.with(i, [key, value]));
};

/** A copy with the value at a path set, making the objects on the way. */
export const withAt = (value: unknown, path: readonly string[], leaf: unknown): unknown => {
  const [head, ...rest] = path;
  if (head === undefined) return leaf;
  const fields = isFields(value) ? value : noFields;
  return withField(fields, head, withAt(at(fields, head), rest, leaf));
};

/** The value that JSON text stands for, or undefined when it is not JSON. */
export const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
};

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
