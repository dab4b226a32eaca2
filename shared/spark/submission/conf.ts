/** Spark's configuration as its submission client reads it: texts by key, with typed looks and prefixes. */
import { mebibytesOf, ratioOf } from "../schema/quantity.ts";
import { referencesIn } from "./references.ts";

export type Conf = ReadonlyMap<string, string>;

export type Texts = Readonly<Record<string, string>>;

/** Everything below a prefix, by what follows it. */
export const below = (conf: Conf, prefix: string): Texts =>
  Object.fromEntries(
    [...conf].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]),
  );

/** Maps of the user's own, and single confs that Spark looks up by their names alone: it takes them as they are. */
const verbatim =
  /^spark\.((executorEnv|hadoop|(driver|executor)\.resource|kubernetes\.(authenticate|driverEnv|node\.selector|(driver|executor)\.(label|annotation|service\.(label|annotation)|secrets|secretKeyRef|volumes|node\.selector)))\.|(app\.name|local\.dir|(driver|executor)\.(memory|cores)|executor\.instances|(driver\.|driver\.blockManager\.|blockManager\.|connect\.grpc\.binding\.)port)$)/;

/** The confs as Spark understands them: some may refer to others; and those that refer to too much. */
export const understood = (conf: Conf): { readonly conf: Conf; readonly problems: readonly string[] } => {
  const { filled, problems } = referencesIn(conf);
  const pairs = [...conf].map(([key, text]) => [key, verbatim.test(key) ? text : filled(key, text)] as const);
  return { conf: new Map(pairs), problems: problems() };
};

/** A text without so many of one character at its end. By hand: an expression would begin again at each of them. */
export const withoutEnd = (text: string, character: string): string => {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
};

export const flagOf = (conf: Conf, key: string): boolean => conf.get(key)?.trim().toLowerCase() === "true";

/** A whole number; texts that are none were refused before anything asks. */
export const countOf = (conf: Conf, key: string, otherwise: number): number => {
  const text = conf.get(key);
  return text === undefined ? otherwise : Number.parseInt(text, 10);
};

/** Sizes may be below zero: they are added to others. */
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

/** A number as Java writes a double: with a point always, with an exponent below a thousandth and from ten million on. */
export const javaDouble = (value: number): string => {
  if (value === 0 || (value >= 1e-3 && value < 1e7)) return withPoint(`${value}`);
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  return `${withPoint(digits)}E${exponent.replace("+", "")}`;
};
