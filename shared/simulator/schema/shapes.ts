/** The shapes of a kind's values: of built-in kinds from the table of fields, of custom ones from their schema. Objects of
 * built-in kinds are decoded by them: unknown fields are dropped, wrong types are refused. */

import { type Fields, fieldsAt, isFields, itemsAt } from "../storage/json.ts";
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
export const typed = (kind: Kind, object: Fields): { readonly fields: Fields; readonly dropped: readonly string[] } => {
  const shape = shapeOfKind(kind);
  if (shape === undefined || shape.is !== "struct") return { fields: object, dropped: [] };
  const { apiVersion, kind: name, metadata, ...rest } = object;
  const dropped: string[] = [];
  const kept = readStruct(kind.kind, shape.field, rest, { struct: kind.kind, above: undefined, step: "", dropped });
  return { fields: { kind: name, apiVersion, metadata, ...kept }, dropped };
};
