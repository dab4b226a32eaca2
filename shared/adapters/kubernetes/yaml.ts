/**
 * Reads YAML as kubectl does. kubectl uses sigs.k8s.io/yaml, whose dialect is YAML 1.1 with the numbers of Go: `0400`
 * is 256, `yes`, `no`, `on`, `off`, `y` and `n` are booleans, `<<` merges maps, the last of repeated keys counts, and
 * `1:30` and instants are strings. It is a module of its own, so that a host without a file of settings does not load
 * the parser.
 */
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type ScalarTag, type YAMLMap } from "yaml";
import { isRecord } from "../../core/json.ts";
import { errorText } from "../../core/text.ts";

/** The bases of Go's prefixes; `0` alone means octal. */
const bases: Readonly<Record<string, number>> = { "0b": 2, "0o": 8, "0x": 16, "0": 8 };

const integerOf = (text: string): number => {
  const plain = text.replaceAll("_", "").toLowerCase();
  const [, sign = "", prefix = "", digits = ""] = /^([-+]?)(0[box]|0(?=.))?(.*)$/.exec(plain) ?? [];
  const size = Number.parseInt(digits, bases[prefix] ?? 10);
  return sign === "-" && size !== 0 ? -size : size;
};

/** A type of scalars: the texts without quotes that have it, and their value. */
const tag = (type: string, test: RegExp, resolve: ScalarTag["resolve"]): ScalarTag => ({
  ...{ tag: `tag:yaml.org,2002:${type}`, default: true, test, resolve },
});

const scalars: readonly ScalarTag[] = [
  tag("null", /^(?:~|null|Null|NULL)?$/, () => null),
  tag("bool", /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  tag("bool", /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  tag(
    "int",
    /^(?:[-+]_*)?(?:0_*b_*[01][01_]*|0_*x_*[\da-f][\da-f_]*|0_*o_*[0-7][0-7_]*|0[0-7_]*|[1-9][\d_]*)$/i,
    integerOf,
  ),
  // A number beyond what a double holds stays a text: an abbreviated hash of a commit looks like one.
  tag("float", /^(?:[-+]_*)?(?:\.\d[\d_]*|\d[\d_]*(?:\.[\d_]*)?)(?:e_*[-+]?\d[\d_]*)?$/i, (text) => {
    const number = Number(text.replaceAll("_", ""));
    return Number.isFinite(number) ? number : text;
  }),
  tag("float", /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/, (text, onError) => {
    onError(`${text} has no form in JSON`);
    return text;
  }),
  { tag: "tag:yaml.org,2002:binary", resolve: (text) => Buffer.from(text, "base64").toString() },
];

/** The most values of a document, those for which aliases stand included. */
const mostValues = 1_000_000;

type Reading = {
  /** The values with an anchor, and how many values each consists of. */
  readonly anchors: Map<string, { readonly value: unknown; readonly size: number }>;
  values: number;
};

const count = (reading: Reading, more: number): void => {
  reading.values += more;
  if (reading.values > mostValues) throw new Error(`its aliases stand for more than ${mostValues} values`);
};

const isMerge = (key: unknown): boolean => isScalar(key) && key.type === "PLAIN" && key.value === "<<";

/** The maps of a merge; later ones weigh less. */
const mergedIn = (value: unknown): readonly (readonly [string, unknown])[] => {
  const maps: readonly unknown[] = Array.isArray(value) ? value.toReversed() : [value];
  return maps.flatMap((map) => {
    if (isRecord(map)) return Object.entries(map);
    throw new Error("<< takes a map, or a list of maps");
  });
};

const keyOf = (key: unknown): string => {
  if (typeof key === "string" || typeof key === "number" || typeof key === "boolean") return String(key);
  throw new Error(`a key must be text, not ${JSON.stringify(key)}`);
};

/** A later entry replaces an earlier one of its key, a merged one, too. */
const recordOf = (map: YAMLMap, reading: Reading): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    map.items.flatMap(({ key, value }) =>
      isMerge(key)
        ? mergedIn(nodeValue(value, reading))
        : [[keyOf(nodeValue(key, reading)), nodeValue(value, reading)] as const],
    ),
  );

const contentOf = (node: unknown, reading: Reading): unknown => {
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item) => nodeValue(item, reading));
  return isMap(node) ? recordOf(node, reading) : null;
};

const anchorOf = (node: unknown): string | undefined =>
  isScalar(node) || isSeq(node) || isMap(node) ? node.anchor : undefined;

const nodeValue = (node: unknown, reading: Reading): unknown => {
  if (isAlias(node)) {
    const target = reading.anchors.get(node.source);
    if (target === undefined) throw new Error(`no value before it has the anchor &${node.source}`);
    count(reading, target.size);
    return target.value;
  }
  const before = reading.values;
  count(reading, 1);
  const value = contentOf(node, reading);
  const anchor = anchorOf(node);
  if (anchor !== undefined) reading.anchors.set(anchor, { value, size: reading.values - before });
  return value;
};

/** A document of a stream: its value, or why it has none, with the line where that is known. */
export type YamlDocument =
  | { readonly value: unknown }
  | { readonly problem: string; readonly line?: number | undefined };

const options = {
  schema: "failsafe" as const,
  customTags: [...scalars],
  resolveKnownTags: false,
  uniqueKeys: false,
  logLevel: "silent",
} satisfies Parameters<typeof parseAllDocuments>[1];

/** Reads the documents of a stream; one that is empty has the value null. */
export const yamlDocuments = (text: string): readonly YamlDocument[] =>
  parseAllDocuments(text, options).map((document) => {
    const [error] = document.errors;
    if (error !== undefined)
      return { problem: `is not YAML (${error.message.split("\n")[0] ?? ""})`, line: error.linePos?.[0].line };
    try {
      return { value: nodeValue(document.contents, { anchors: new Map(), values: 0 }) };
    } catch (cause) {
      return { problem: `is not YAML (${errorText(cause)})` };
    }
  });

/** Reads a text of one document. Throws an error whose message tells the place. */
export const parseYaml = (text: string): unknown => {
  const [document = { value: null }] = yamlDocuments(text);
  if ("value" in document) return document.value;
  throw new Error(document.problem);
};
