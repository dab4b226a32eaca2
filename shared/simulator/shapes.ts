/** The shapes of a kind's values: of built-in kinds from the table of fields, of custom ones from their schema. */
import { fieldsText } from "./fields.ts";
import { type Fields, fieldsAt, isFields, itemsAt } from "./json.ts";
import type { Kind } from "./kinds.ts";

/** The identity of list items: none, the value itself, or some of their fields. */
export type Merge = "atomic" | "set" | readonly string[];

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
