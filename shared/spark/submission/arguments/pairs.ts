/** Fields as confs: no pair for an absent field, one pair for each entry of a map. */

export type Pair = readonly [string, string];

export const given = (key: string, value: string | number | boolean | undefined): Pair[] =>
  value === undefined ? [] : [[key, `${value}`]];

export const each = (prefix: string, values: Readonly<Record<string, string>> | undefined): Pair[] =>
  Object.entries(values ?? {}).map(([key, value]) => [`${prefix}${key}`, value]);
