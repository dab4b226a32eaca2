/**
 * The longest text, the most entries and the greatest number of each field that a user writes. Reconcile and admission
 * keep the same table of a kind, so one object costs a bounded time and memory. Reading a value needs time linear in
 * its size.
 */
import { isRecord, isTooMuch } from "../core/json.ts";

/** The limits of one field. A field without a row has those of `usual`. */
export type Limit = {
  /** The field below `spec`, as `tasks.*.policies`: `*` is any index or any key. */
  readonly field: string;
  /** The most characters of a text. */
  readonly characters?: number;
  /** The most entries of a list or a map. */
  readonly entries?: number;
  /** The greatest number. */
  readonly most?: number;
  /** The reason, as it continues "because …". */
  readonly why: string;
};

type Bounds = Omit<Limit, "field">;

/** Fields without a row: MAX_ARG_STRLEN of Linux, and ten times the longest list or map of upstream's examples. */
const usual = {
  characters: 131_072,
  entries: 1_000,
  why: "Linux passes no longer argument or variable to a container, and no list of upstream's examples has a tenth as many entries",
} as const;

/** A key is at most the prefix and the name of a label, or the name of a Spark property. */
const longestKey = 1_024;

/** The most errors that one message names. */
const mostReported = 3;

type Row = { readonly bounds?: Bounds; readonly below: ReadonlyMap<string, Row> };

type Growing = { bounds?: Bounds; readonly below: Map<string, Growing> };

const treeOf = (limits: readonly Limit[]): Row => {
  const root: Growing = { below: new Map() };
  for (const { field, ...bounds } of limits) {
    let at = root;
    for (const part of field.split(".")) {
      const next: Growing = at.below.get(part) ?? { below: new Map() };
      at.below.set(part, next);
      at = next;
    }
    at.bounds = bounds;
  }
  return root;
};

/** Shortens a key, which may be a tenant's own text. */
const shownKey = (key: string): string => (key.length <= 64 ? key : `${key.slice(0, 64)}…`);

const pathTo = (path: string, key: string): string =>
  /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `${path}.${shownKey(key)}` : `${path}[${JSON.stringify(shownKey(key))}]`;

const ofText = (path: string, text: string, { characters = usual.characters, why }: Bounds): readonly string[] =>
  text.length <= characters
    ? []
    : [`${path} is ${text.length} characters long: shorten it to ${characters}, because ${why}`];

const ofNumber = (path: string, number: number, { most, why }: Bounds): readonly string[] =>
  most === undefined || !Number.isSafeInteger(number) || number <= most
    ? []
    : [`${path} is ${number}: write at most ${most}, because ${why}`];

const ofCount = (path: string, count: number, { entries = usual.entries, why }: Bounds): readonly string[] =>
  count <= entries ? [] : [`${path} holds ${count} entries: keep at most ${entries}, because ${why}`];

const ofKeys = (path: string, keys: readonly string[]): readonly string[] =>
  keys
    .filter((key) => key.length > longestKey)
    .map((key) => `${pathTo(path, key)}: its key is ${key.length} characters long: shorten it to ${longestKey}`);

type Place = { readonly value: unknown; readonly path: string; readonly row: Row | undefined };

const placesIn = ({ value, path, row }: Place): readonly Place[] => {
  const below = (key: string): Row | undefined => row?.below.get(key) ?? row?.below.get("*");
  if (Array.isArray(value))
    return value.map((item: unknown, index) => ({ value: item, path: `${path}[${index}]`, row: below("*") }));
  if (!isRecord(value)) return [];
  return Object.entries(value).map(([key, item]) => ({ value: item, path: pathTo(path, key), row: below(key) }));
};

const brokenAt = ({ value, path, row }: Place): readonly string[] => {
  const bounds = row?.bounds ?? usual;
  if (typeof value === "string") return ofText(path, value, bounds);
  if (typeof value === "number") return ofNumber(path, value, bounds);
  if (Array.isArray(value)) return ofCount(path, value.length, bounds);
  if (!isRecord(value)) return [];
  const keys = Object.keys(value);
  return [...ofCount(path, keys.length, bounds), ...ofKeys(path, keys)];
};

/** The message about a spec that is too large to be read whole. */
const tooMuch = "spec holds more than 50,000 values, or nests them hundreds of levels deep: make it smaller";

/** Judges a spec by a table of limits: one text that names each field and what to change, empty when all are kept. */
export type LimitsCheck = (spec: unknown) => string;

/** Makes the check of one kind from its table. A field that is beyond its limit is not looked into. */
export const limitsOf = (limits: readonly Limit[]): LimitsCheck => {
  const tree = treeOf(limits);
  return (spec) => {
    if (isTooMuch(spec)) return tooMuch;
    const problems: string[] = [];
    const left: Place[] = [{ value: spec, path: "spec", row: tree }];
    for (let place = left.pop(); place !== undefined && problems.length < mostReported; place = left.pop()) {
      const broken = brokenAt(place);
      problems.push(...broken);
      if (broken.length === 0) left.push(...placesIn(place).toReversed());
    }
    return problems.join("; ");
  };
};

/** Returns the same limits for a spec within another one, at `field`. */
export const below = (field: string, limits: readonly Limit[]): readonly Limit[] =>
  limits.map((limit) => ({ ...limit, field: `${field}.${limit.field}` }));
