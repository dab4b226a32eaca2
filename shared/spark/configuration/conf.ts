/** Spark's configuration as its submission client reads it: strings by key, with typed getters and prefixes. */
import { mebibytesOf, ratioOf } from "./quantity.ts";
import { referencesIn } from "./references.ts";

export type Conf = ReadonlyMap<string, string>;

export type Texts = Readonly<Record<string, string>>;

/** The confs below a prefix, by the rest of their keys. */
export const below = (conf: Conf, prefix: string): Texts =>
  Object.fromEntries(
    [...conf].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]),
  );

/** Confs whose references are not resolved: the user's own maps, and confs that Spark looks up by name alone. */
const verbatim =
  /^spark\.((executorEnv|hadoop|(driver|executor)\.resource|kubernetes\.(authenticate|driverEnv|node\.selector|(driver|executor)\.(label|annotation|service\.(label|annotation)|secrets|secretKeyRef|volumes|node\.selector)))\.|(app\.name|local\.dir|(driver|executor)\.(memory|cores)|executor\.instances|(driver\.|driver\.blockManager\.|blockManager\.|connect\.grpc\.binding\.)port)$)/;

/** Resolves references between confs as Spark does; `problems` names those that refer to too much. */
export const understood = (conf: Conf): { readonly conf: Conf; readonly problems: readonly string[] } => {
  const { filled, problems } = referencesIn(conf);
  const pairs = [...conf].map(([key, text]) => [key, verbatim.test(key) ? text : filled(key, text)] as const);
  return { conf: new Map(pairs), problems: problems() };
};

/** Removes a character from the end of a text, in linear time: a regular expression would backtrack at each of them. */
export const withoutEnd = (text: string, character: string): string => {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
};

export const flagOf = (conf: Conf, key: string): boolean => conf.get(key)?.trim().toLowerCase() === "true";

/** The whole number of a conf; other texts were refused before. */
export const countOf = (conf: Conf, key: string, otherwise: number): number => {
  const text = conf.get(key);
  return text === undefined ? otherwise : Number.parseInt(text, 10);
};

/** The size of a conf in MiB. It may be negative: sizes are added to others. */
export const mebibytesIn = (conf: Conf, key: string): number | undefined => {
  const text = conf.get(key);
  if (text?.startsWith("-")) return -(mebibytesOf(text.slice(1)) ?? 0);
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

const withPoint = (text: string): string => (text.includes(".") ? text : `${text}.0`);

/**
 * A number as Java writes a double: always with a point, with an exponent below a thousandth and from ten million on.
 */
export const javaDouble = (value: number): string => {
  if (value === 0 || (value >= 1e-3 && value < 1e7)) return withPoint(`${value}`);
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  return `${withPoint(digits)}E${exponent.replace("+", "")}`;
};
