/** Spark's configuration as its submission client reads it: texts by key, with typed looks and prefixes. */
import { mebibytesOf, ratioOf } from "../schema/quantity.ts";

export type Conf = ReadonlyMap<string, string>;

export type Texts = Readonly<Record<string, string>>;

/** Everything below a prefix, by what follows it. */
export const below = (conf: Conf, prefix: string): Texts =>
  Object.fromEntries(
    [...conf].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]),
  );

/** Maps of the user's own, which Spark takes as they are. */
const verbatim =
  /^spark\.(executorEnv|hadoop|kubernetes\.(driverEnv|node\.selector|(driver|executor)\.(label|annotation|service\.(label|annotation)|secrets|secretKeyRef|volumes|node\.selector)))\./;

/** A text with `${spark.…}` filled in from other confs; what is not set stays. A conf within itself is left alone. */
const filled = (conf: Conf, text: string, within: readonly string[]): string =>
  text.replaceAll(/\$\{(spark\.[^}\s]+)\}/g, (whole, key: string) => {
    const value = within.includes(key) ? undefined : conf.get(key);
    return value === undefined ? whole : filled(conf, value, [...within, key]);
  });

/** The confs as Spark understands them: some may refer to others. */
export const understood = (conf: Conf): Conf =>
  new Map([...conf].map(([key, text]) => [key, verbatim.test(key) ? text : filled(conf, text, [key])]));

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
