/** Spark's configuration as its submission client reads it: texts by key, with typed looks and prefixes. */
import { mebibytesOf, ratioOf } from "../schema/quantity.ts";

export type Conf = ReadonlyMap<string, string>;

export type Texts = Readonly<Record<string, string>>;

/** Everything below a prefix, by what follows it. */
export const below = (conf: Conf, prefix: string): Texts =>
  Object.fromEntries(
    [...conf].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]),
  );

export const flagOf = (conf: Conf, key: string): boolean => conf.get(key)?.trim().toLowerCase() === "true";

/** A whole number; texts that are none were refused before anything asks. */
export const countOf = (conf: Conf, key: string, otherwise: number): number => {
  const text = conf.get(key);
  return text === undefined ? otherwise : Number.parseInt(text, 10);
};

export const mebibytesIn = (conf: Conf, key: string): number | undefined => {
  const text = conf.get(key);
  return text === undefined ? undefined : mebibytesOf(text);
};

export const ratioIn = (conf: Conf, key: string): number | undefined => {
  const text = conf.get(key);
  return text === undefined ? undefined : ratioOf(text);
};

/** The parts of a comma-separated list, trimmed, without empty ones. */
export const listOf = (text: string | undefined): readonly string[] =>
  (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** A number as Java writes a double. */
export const javaDouble = (value: number): string => (Number.isInteger(value) ? `${value}.0` : `${value}`);
