/**
 * The shapes of a kind's values: of built-in kinds from the table of fields, of custom ones from their schema. Objects
 * of built-in kinds are decoded by them: unknown fields are dropped, wrong types are refused. Sets of fields, as
 * managedFields keeps them, are made from values, compared, written and read as FieldsV1.
 */
import { type Fields, fieldsAt, isFields, itemsAt, same } from "../storage/json.ts";
import { type Mistyped, mistyped } from "../storage/refusal.ts";
import { fieldsText } from "./fields.ts";
import type { Kind } from "./kinds.ts";

/** The identity of list items: none, the value itself, or some of their fields. */
type Merge = "atomic" | "set" | readonly string[];

export type Shape =
  | { readonly is: "leaf"; readonly type: string }
  /** Followed to any depth. */
  | { readonly is: "any" }
  | { readonly is: "struct"; readonly name: string; readonly field: (name: string) => Shape | undefined }
  | { readonly is: "map"; readonly of: Shape }
  | { readonly is: "list"; readonly of: Shape; readonly merge: Merge };

const unshaped: Shape = { is: "any" };
const leafTypes = "sinbqt";

export type Codes = ReadonlyMap<string, string>;

export const codesOf = (definition: string): readonly [string, Codes] => {
  const [name = "", ...fields] = definition.split(" ");
  const pairs = fields.map((field): [string, string] => {
    const colon = field.indexOf(":");
    return [field.slice(0, colon), field.slice(colon + 1)];
  });
  return [name, new Map(pairs)];
};

export const definitions: ReadonlyMap<string, Codes> = new Map(
  fieldsText
    .trim()
    .split(/\n| \| /)
    .map(codesOf),
);

const structs = new Map<string, Shape>();

/** Definitions refer to each other, and some to themselves: a field's shape is made at its first use. */
const structOf = (name: string, codes: Codes): Shape => {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const shapes = new Map<string, Shape>();
  const field = (key: string): Shape | undefined => {
    const code = codes.get(key);
    if (code === undefined) return undefined;
    const shape = shapes.get(key) ?? shapeOf(code);
    shapes.set(key, shape);
    return shape;
  };
  const struct: Shape = { is: "struct", name, field };
  structs.set(name, struct);
  return struct;
};

const shapeOf = (code: string): Shape => {
  if (code.startsWith("{}")) return { is: "map", of: shapeOf(code.slice(2)) };
  if (code.startsWith("<>")) return { is: "list", of: shapeOf(code.slice(2)), merge: "set" };
  if (code.startsWith("[")) {
    const close = code.indexOf("]");
    const keys = code.slice(1, close);
    return { is: "list", of: shapeOf(code.slice(close + 1)), merge: keys === "" ? "atomic" : keys.split(",") };
  }
  if (code.length === 1) return leafTypes.includes(code) ? { is: "leaf", type: code } : unshaped;
  const codes = definitions.get(code);
  return codes === undefined ? unshaped : structOf(code, codes);
};

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

const listOf = (schema: Fields): Shape => {
  const items = schema["items"];
  const type = schema["x-kubernetes-list-type"];
  const keys = texts(itemsAt(schema, "x-kubernetes-list-map-keys"));
  return {
    is: "list",
    of: isFields(items) ? schemaShape(items) : unshaped,
    merge: type === "map" ? keys : type === "set" ? "set" : "atomic",
  };
};

const leaf: Shape = { is: "leaf", type: "*" };

/** The shape that a structural schema describes. */
const schemaShape = (schema: Fields): Shape => {
  if (schema["type"] === "array") return listOf(schema);
  if (schema["x-kubernetes-map-type"] === "atomic") return leaf;
  const additional = schema["additionalProperties"];
  if (isFields(additional)) return { is: "map", of: schemaShape(additional) };
  const properties = fieldsAt(schema, "properties");
  if (Object.keys(properties).length === 0) return schema["type"] === "object" ? unshaped : leaf;
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const field = (name: string): Shape | undefined => {
    const below = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isFields(below) ? schemaShape(below) : open ? unshaped : undefined;
  };
  return { is: "struct", name: "", field };
};

const metadataCodes: Codes = new Map([
  ["labels", "{}s"],
  ["annotations", "{}s"],
  ["ownerReferences", "[uid]*"],
  ["finalizers", "<>s"],
]);

/** The shape of the metadata that writers own. */
export const metadataShape: Shape = structOf("ObjectMeta", metadataCodes);

const custom = new WeakMap<Fields, Shape>();

/** The shape of a kind's objects; undefined when none is known. */
export const shapeOfKind = ({ kind, custom: own }: Kind): Shape | undefined => {
  const schema = own?.schema;
  if (schema === undefined) {
    const codes = own === undefined ? definitions.get(kind) : undefined;
    return codes === undefined ? undefined : structOf(kind, codes);
  }
  const shape = custom.get(schema) ?? schemaShape(schema);
  custom.set(schema, shape);
  return shape;
};

/** The reader's position: steps from the top, written out only for a message. */
type Walk = {
  readonly struct: string;
  readonly above: Walk | undefined;
  readonly step: string | number;
  readonly dropped: string[];
};

const into = (above: Walk, step: string | number, struct = above.struct): Walk => ({
  struct,
  above,
  step,
  dropped: above.dropped,
});

const pathOf = ({ above, step }: Walk): string => {
  if (above === undefined) return "";
  const head = pathOf(above);
  if (typeof step === "number") return `${head}[${step}]`;
  return head === "" ? step : `${head}.${step}`;
};

const goTypes: Readonly<Record<string, string>> = {
  s: "string",
  i: "int32",
  n: "float64",
  b: "bool",
  q: "string",
  t: "string",
};

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  s: (value) => typeof value === "string",
  i: (value) => Number.isInteger(value),
  n: (value) => typeof value === "number",
  b: (value) => typeof value === "boolean",
  q: (value) => typeof value === "string" || typeof value === "number",
  t: (value) => typeof value === "string",
};

const refuse = (walk: Walk, value: unknown, wanted: string): Mistyped => {
  const plain = pathOf(walk).replace(/\[\d+\]/g, "");
  return mistyped(value, `${walk.struct}.${plain}`, wanted);
};

/** True for the empty values that the encoder leaves out. */
const isEmpty = (shape: Shape, value: unknown): boolean => {
  if (value === null || value === undefined) return true;
  if (shape.is === "list") return Array.isArray(value) && value.length === 0;
  if (shape.is === "map") return isFields(value) && Object.keys(value).length === 0;
  return shape.is === "leaf" && shape.type === "s" && value === "";
};

/** The decoded value of one field; undefined when it is dropped. */
const readField = (shape: Shape | undefined, item: unknown, walk: Walk): unknown => {
  if (shape === undefined) {
    walk.dropped.push(pathOf(walk));
    return undefined;
  }
  if (item === null) return shape.is === "leaf" && shape.type === "t" ? null : undefined;
  const clean = read(shape, item, walk);
  return isEmpty(shape, clean) ? undefined : clean;
};

/** Copies only where a field changes: most written objects are valid as they are. */
const readStruct = (name: string, field: (key: string) => Shape | undefined, value: unknown, walk: Walk): Fields => {
  if (!isFields(value)) throw refuse(walk, value, name);
  let changed = false;
  const kept: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const item = value[key];
    const clean = readField(field(key), item, into(walk, key, name));
    changed ||= clean !== item;
    if (clean !== undefined) kept.push([key, clean]);
  }
  return changed ? Object.fromEntries(kept) : value;
};

const readMap = (of: Shape, value: unknown, walk: Walk): Fields => {
  if (!isFields(value)) throw refuse(walk, value, "map");
  const entries = Object.entries(value);
  const clean = entries.map(([key, item]): [string, unknown] => [key, item === null ? null : read(of, item, walk)]);
  if (clean.every(([, item], i) => item !== null && item === entries[i]?.[1])) return value;
  return Object.fromEntries(clean.filter(([, item]) => item !== null));
};

const readList = (of: Shape, value: unknown, walk: Walk): readonly unknown[] => {
  if (!Array.isArray(value)) throw refuse(walk, value, "slice");
  const clean = value.map((item, i) => read(of, item, into(walk, i)));
  return clean.every((item, i) => item === value[i]) ? value : clean;
};

const read = (shape: Shape, value: unknown, walk: Walk): unknown => {
  switch (shape.is) {
    case "any":
      return value;
    case "leaf":
      if (fits[shape.type]?.(value) === false) throw refuse(walk, value, goTypes[shape.type] ?? "");
      return value;
    case "map":
      return readMap(shape.of, value, walk);
    case "list":
      return readList(shape.of, value, walk);
    case "struct":
      return readStruct(shape.name, shape.field, value, walk);
  }
};

/** The fields of an object that its kind's decoder keeps, and the paths of unknown fields. */
export const keepKnownFields = (
  kind: Kind,
  object: Fields,
): { readonly fields: Fields; readonly dropped: readonly string[] } => {
  const shape = shapeOfKind(kind);
  if (shape === undefined || shape.is !== "struct") return { fields: object, dropped: [] };
  const { apiVersion, kind: name, metadata, ...rest } = object;
  const dropped: string[] = [];
  const kept = readStruct(kind.kind, shape.field, rest, { struct: kind.kind, above: undefined, step: "", dropped });
  return { fields: { kind: name, apiVersion, metadata, ...kept }, dropped };
};

/** Paths of fields; a path is its steps joined by newlines. */
export type FieldSet = ReadonlySet<string>;

/** One manager's share of an object. */
export type Share = {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time: string;
  readonly subresource: string;
  readonly set: FieldSet;
};

/** Values by path. */
type Leaves = Map<string, unknown>;

/** The value of a list item's key field; a missing protocol is TCP. */
export const keyValue = (item: unknown, key: string): unknown =>
  fieldsAt(item)[key] ?? (key === "protocol" ? "TCP" : undefined);

const keyStep = (keys: readonly string[], item: unknown): string =>
  `k:${JSON.stringify(Object.fromEntries([...keys].sort().map((key) => [key, keyValue(item, key)])))}`;

const under = (path: string, step: string): string => (path === "" ? step : `${path}\n${step}`);

const walkFields = (value: Fields, shapeFor: (key: string) => Shape | undefined, path: string, into: Leaves): void => {
  for (const [key, item] of Object.entries(value)) walk(item, shapeFor(key) ?? unshaped, under(path, `f:${key}`), into);
};

const walkList = (
  value: readonly unknown[],
  shape: Extract<Shape, { is: "list" }>,
  path: string,
  into: Leaves,
): void => {
  const { merge, of } = shape;
  if (merge === "atomic") {
    into.set(path, value);
    return;
  }
  for (const item of value) {
    const step = merge === "set" ? `v:${JSON.stringify(item)}` : keyStep(merge, item);
    into.set(under(path, step), merge === "set" ? item : true);
    if (merge !== "set") walk(item, of, under(path, step), into);
  }
};

const walk = (value: unknown, shape: Shape, path: string, into: Leaves): void => {
  if (Array.isArray(value) && shape.is === "list") walkList(value, shape, path, into);
  else if (!isFields(value) || shape.is === "leaf" || Object.keys(value).length === 0) into.set(path, value);
  else if (shape.is === "struct") walkFields(value, shape.field, path, into);
  else walkFields(value, () => (shape.is === "map" ? shape.of : unshaped), path, into);
};

const ownable = ["labels", "annotations", "ownerReferences", "finalizers"] as const;

/** The values of an object that a manager can own, by path. */
export const leavesOf = (kind: Kind, object: Fields): ReadonlyMap<string, unknown> => {
  const into: Leaves = new Map();
  const { apiVersion, kind: _name, metadata, ...rest } = object;
  const shape = shapeOfKind(kind) ?? unshaped;
  walkFields(rest, (key) => (shape.is === "struct" ? shape.field(key) : unshaped), "", into);
  const meta = fieldsAt(metadata);
  const own = Object.fromEntries(ownable.filter((key) => meta[key] !== undefined).map((key) => [key, meta[key]]));
  if (Object.keys(own).length > 0) walk(own, metadataShape, "f:metadata", into);
  return into;
};

/** The fields that differ between two states: new or changed ones, and removed ones. */
export const changesBetween = (
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): { readonly set: FieldSet; readonly gone: FieldSet } => ({
  set: new Set(
    [...after].filter(([path, value]) => !before.has(path) || !same(before.get(path), value)).map(([path]) => path),
  ),
  gone: new Set([...before.keys()].filter((path) => !after.has(path))),
});

/** A set as FieldsV1. */
export const writeSet = (set: FieldSet): Fields => {
  const root: Record<string, unknown> = {};
  for (const path of [...set].sort()) {
    let here = root;
    for (const step of path.split("\n")) {
      const next = here[step];
      const below: Record<string, unknown> = isFields(next) ? next : {};
      here[step] = below;
      here = below;
    }
    here["."] = {};
  }
  return tidy(root);
};

/** Drops the mark of a field that has no field below it. */
const tidy = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]): [string, unknown][] => {
      if (key === ".") return Object.keys(fields).length === 1 ? [] : [[key, {}]];
      return [[key, tidy(fieldsAt(value))]];
    }),
  );

/** FieldsV1 as a set. */
export const readSet = (fields: unknown, path = ""): FieldSet => {
  const entries = Object.entries(isFields(fields) ? fields : {});
  if (entries.length === 0) return new Set(path === "" ? [] : [path]);
  return new Set(entries.flatMap(([step, below]) => (step === "." ? [path] : [...readSet(below, under(path, step))])));
};

export const minus = (a: FieldSet, b: FieldSet): FieldSet => new Set([...a].filter((path) => !b.has(path)));
export const plus = (a: FieldSet, b: FieldSet): FieldSet => new Set([...a, ...b]);

/** A path as messages show it: `.spec.containers[name="a"].image`. */
export const shownPath = (path: string): string =>
  path
    .split("\n")
    .map((step) => {
      const rest = step.slice(2);
      if (step.startsWith("f:")) return `.${rest}`;
      if (step.startsWith("v:")) return `[=${rest}]`;
      const keys = Object.entries(fieldsAt(JSON.parse(rest))).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      return `[${keys.join(",")}]`;
    })
    .join("");
