/**
 * Spark's configuration as its submission client reads it: strings by key, with typed getters, prefixes and references
 * between them; amounts, which are sizes like `512m` and ratios like `0.1`; and the properties format in which a
 * driver reads it. Single confs are checked: those that Spark's client reads with a type, and amounts that the API
 * server would refuse.
 */
import { counted } from "../../core/text.ts";
import { isQuantity } from "../../kube/quantity.ts";
import type { Rules } from "./versions.ts";

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

/** The most characters of one application's resolved texts together, as many as its ConfigMap may hold. */
const mostFilled = 1_048_576;

/** The most levels of references. */
const deepest = 32;

const begin = "${";
const name = "${spark.";

/** A part of a text: plain text, or a reference with its key. */
type Part = { readonly text: string; readonly key?: string };

const ends = /[}\s]/g;

/** Returns the end of the key that begins before `from`: the next brace or space. One pass over the text finds all. */
const endsOf = (text: string): ((from: number) => number) => {
  let end = -1;
  return (from) => {
    if (end >= from) return end;
    ends.lastIndex = from;
    end = ends.exec(text)?.index ?? text.length;
    return end;
  };
};

const partsOf = (text: string): readonly Part[] => {
  const endAfter = endsOf(text);
  const parts: Part[] = [];
  let from = 0;
  for (let at = text.indexOf(name); at >= 0; ) {
    const end = endAfter(at + name.length);
    const isReference = end > at + name.length && text[end] === "}";
    if (isReference) {
      parts.push({ text: text.slice(from, at) });
      parts.push({ text: text.slice(at, end + 1), key: text.slice(at + begin.length, end) });
      from = end + 1;
    }
    at = end >= text.length ? -1 : text.indexOf(name, isReference ? from : at + name.length);
  }
  return [...parts, { text: text.slice(from) }];
};

/** A resolved conf, and its levels of references. */
type Filled = { readonly text: string; readonly depth: number };

type References = {
  /** The text with its references resolved; a reference to an unset conf, or back to itself, is unchanged. */
  readonly filled: (key: string, text: string) => string;
  /** Confs that exceed the bounds: they are unchanged. */
  readonly problems: () => readonly string[];
};

const tooDeep = `it refers to others through more than ${deepest} levels: write the value itself`;
const tooLong = `its references make more than ${mostFilled} characters (1 MiB) of all confs together: use fewer of them`;

/** The most problems that are named; the rest is counted. */
const mostNamed = 5;

const inWords = (problems: ReadonlyMap<string, string>): readonly string[] => {
  const named = [...problems].slice(0, mostNamed).map(([key, why]) => `${key}: ${why}`);
  const more = problems.size - named.length;
  return more === 0 ? named : [...named, `and the same holds for ${counted(more, "more conf")}`];
};

const referencesIn = (conf: ReadonlyMap<string, string>): References => {
  const known = new Map<string, Filled>();
  const underWay = new Set<string>();
  const problems = new Map<string, string>();
  let left = mostFilled;

  const given = (key: string, why: string): Filled => {
    problems.set(key, why);
    return { text: conf.get(key) ?? "", depth: deepest + 1 };
  };

  /** Resolves a part; undefined for one that is unchanged. */
  const inPlaceOf = ({ key }: Part): Filled | undefined => {
    const text = key === undefined || underWay.has(key) ? undefined : conf.get(key);
    return key === undefined || text === undefined ? undefined : fill(key, text);
  };

  const joined = (key: string, parts: readonly Part[]): Filled => {
    const made = parts.map((part) => inPlaceOf(part) ?? { text: part.text, depth: 0 });
    const depth = 1 + made.reduce((most, one) => Math.max(most, one.depth), 0);
    if (depth > deepest) return given(key, tooDeep);
    const length = made.reduce((sum, { text }) => sum + text.length, 0);
    if (length > left) return given(key, tooLong);
    left -= length;
    return { text: made.map(({ text }) => text).join(""), depth };
  };

  const fill = (key: string, text: string): Filled => {
    const before = known.get(key);
    if (before !== undefined) return before;
    if (!text.includes(name)) return { text, depth: 0 };
    if (underWay.size > deepest) return given(key, tooDeep);
    underWay.add(key);
    const filled = joined(key, partsOf(text));
    underWay.delete(key);
    known.set(key, filled);
    return filled;
  };

  return {
    filled: (key, text) => fill(key, text).text,
    problems: () => inWords(problems),
  };
};

export type Conf = ReadonlyMap<string, string>;

export type Texts = Readonly<Record<string, string>>;

/** The confs below a prefix, by the rest of their keys. */
export const below = (conf: Conf, prefix: string): Texts => {
  const found: [string, string][] = [];
  // A submission asks for some forty prefixes: `for` would make a pair for each key of each.
  conf.forEach((value, key) => {
    if (key.startsWith(prefix)) found.push([key.slice(prefix.length), value]);
  });
  return Object.fromEntries(found);
};

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

/** The positive whole number of a conf. */
export const countIn = (confs: Texts, key: string): number | undefined => {
  const text = confs[key]?.trim() ?? "";
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
};

/** Spark's units in ms, as JavaUtils.timeStringAs, in any case. */
const factors: Readonly<Record<string, number>> = {
  ...{ us: 0.001, ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 },
};

/** A duration as Spark reads it; without a unit it counts milliseconds, unless the conf has another one, in ms. */
export const msIn = (confs: Texts, key: string, unitMs = 1): number | undefined => {
  const [, amount, unit = ""] = /^(\d{1,9})(us|ms|s|min|m|h|d)?$/.exec(confs[key]?.trim().toLowerCase() ?? "") ?? [];
  const ms = Number(amount) * (unit === "" ? unitMs : (factors[unit] ?? 1));
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
};

const withPoint = (text: string): string => (text.includes(".") ? text : `${text}.0`);

/**
 * A number as Java writes a double: always with a point, with an exponent below a thousandth and from ten million on.
 */
export const javaDouble = (value: number): string => {
  if (value === 0 || (value >= 1e-3 && value < 1e7)) return withPoint(`${value}`);
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  return `${withPoint(digits)}E${exponent.replace("+", "")}`;
};

const named: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f" };

const special = /[\t\n\r\f\\=:#! ]/g;

const escaped = (text: string, spaces: boolean): string =>
  text.replace(special, (character, at: number) =>
    character === " " && !spaces && at > 0 ? " " : (named[character] ?? `\\${character}`),
  );

/** Writes a map, sorted by key so that equal maps give equal texts. */
export const propertiesText = (title: string, values: ReadonlyMap<string, string>): string =>
  [
    `#${title}`,
    ...[...values]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `${escaped(key, true)}=${escaped(value, false)}`),
    "",
  ].join("\n");

type Form = {
  readonly keys: readonly string[];
  readonly fits: (text: string, rules: Rules) => boolean;
  /** Follows "is not" in the error. */
  readonly what: string;
  /** False for versions that do not read these keys. */
  readonly read?: (rules: Rules) => boolean;
};

const isSize = (text: string, { binaryUnits }: Rules): boolean =>
  mebibytesOf(text) !== undefined && (binaryUnits || !hasBinaryUnit(text));

const isWhole = (text: string): boolean => /^[+-]?\d+$/.test(text);

const isPositive = (text: string): boolean => isWhole(text) && Number(text) > 0;

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text.trim()) && Number(text) < 65_536;

const among = (values: readonly string[]): Pick<Form, "fits" | "what"> => ({
  fits: (text) => values.includes(text),
  what: `one of ${values.join(", ")}`,
});

const size = 'a size in bytes that Spark reads; write it like "512m" or "2g"';

const flag: Pick<Form, "fits" | "what"> = {
  fits: (text) => /^(true|false)$/i.test(text.trim()),
  what: "a boolean value: write true or false",
};

const longestMap = 1_048_576;

const forms: readonly Form[] = [
  {
    keys: ["spark.driver.memory", "spark.executor.memory"],
    fits: (text, rules) => isSize(text, rules) && (bytesOf(text, "b") ?? 0) > 0,
    what: size,
  },
  {
    keys: ["spark.driver.memoryOverhead", "spark.executor.memoryOverhead"],
    fits: (text, rules) => isSize(text.replace(/^-/, ""), rules),
    what: size,
  },
  {
    keys: ["spark.driver.minMemoryOverhead", "spark.executor.minMemoryOverhead"],
    fits: isSize,
    what: size,
    read: ({ minOverheadConf }) => minOverheadConf,
  },
  {
    keys: ["spark.kubernetes.memoryOverheadFactor", "spark.driver.memoryOverheadFactor"],
    fits: (text) => (ratioOf(text) ?? -1) >= 0,
    what: 'a ratio; write it like "0.1"',
  },
  {
    keys: ["request.cores", "limit.cores"].map((what) => `spark.kubernetes.driver.${what}`),
    fits: isQuantity,
    what: 'in the format of a quantity; write it like "500m" or "2"',
  },
  { keys: ["spark.driver.cores", "spark.executor.cores"], fits: isPositive, what: "a positive whole number" },
  {
    keys: ["spark.driver.port", "spark.driver.blockManager.port", "spark.blockManager.port", "spark.ui.port"],
    fits: isPort,
    what: "a port",
  },
  {
    keys: ["spark.kubernetes.local.dirs.tmpfs", "spark.kubernetes.legacy.useReadWriteOnceAccessMode"],
    ...flag,
  },
  {
    keys: [
      ...["", "driver.", "executor."].map((of) => `spark.kubernetes.${of}securityContext.allowPrivilegeEscalation`),
      "spark.kubernetes.driver.service.publishNotReadyAddresses",
    ],
    ...flag,
    read: ({ securityContext }) => securityContext,
  },
  {
    keys: ["spark.kubernetes.configMap.maxSize"],
    fits: (text) => isWhole(text.trim()) && Number(text) <= longestMap,
    what: `a number of at most ${longestMap} bytes`,
  },
  {
    keys: ["spark.kubernetes.container.image.pullPolicy"],
    ...among(["Always", "Never", "IfNotPresent"]),
  },
  {
    keys: ["spark.kubernetes.driver.service.ipFamilyPolicy"],
    ...among(["SingleStack", "PreferDualStack", "RequireDualStack"]),
  },
  {
    keys: ["spark.kubernetes.driver.service.ipFamilies"],
    ...among(["IPv4", "IPv6", "IPv4,IPv6", "IPv6,IPv4"]),
  },
];

/** Checked without dynamic allocation only: with it, an application may start without executors. */
const confValuesCounted: Form = {
  keys: ["spark.executor.instances"],
  fits: isPositive,
  what: "a positive number of executors",
};

export const wrongValues = (conf: Conf, rules: Rules): readonly string[] => {
  const dynamic = flagOf(conf, "spark.dynamicAllocation.enabled");
  return [...forms, ...(dynamic ? [] : [confValuesCounted])]
    .filter(({ read }) => read?.(rules) ?? true)
    .flatMap(({ keys, fits, what }) =>
      keys.flatMap((key) => {
        const text = conf.get(key);
        return text === undefined || fits(text, rules) ? [] : [`${key}: ${JSON.stringify(text)} is not ${what}`];
      }),
    );
};
