/** Reads objects of built-in kinds with their types, as a decoder does: unknown fields go, wrong types are refused. */
import { type Fields, isFields } from "./json.ts";
import type { Kind } from "./kinds.ts";
import { type Mistyped, mistyped } from "./refusal.ts";
import { type Shape, shapeOfKind } from "./shapes.ts";

type Walk = { readonly struct: string; readonly path: string; readonly dropped: string[] };

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

const refuse = ({ struct, path }: Walk, value: unknown, wanted: string): Mistyped => {
  const plain = path.replace(/\[\d+\]/g, "");
  return mistyped(value, `${struct}.${plain}`, wanted);
};

/** What the encoder leaves out: the empty. */
const isEmpty = (shape: Shape, value: unknown): boolean => {
  if (value === null || value === undefined) return true;
  if (shape.is === "list") return Array.isArray(value) && value.length === 0;
  if (shape.is === "map") return isFields(value) && Object.keys(value).length === 0;
  return shape.is === "leaf" && shape.type === "s" && value === "";
};

const readStruct = (name: string, field: (key: string) => Shape | undefined, value: unknown, walk: Walk): Fields => {
  if (!isFields(value)) throw refuse(walk, value, name);
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const path = walk.path === "" ? key : `${walk.path}.${key}`;
    const shape = field(key);
    if (shape === undefined) walk.dropped.push(path);
    else if (item === null && shape.is === "leaf" && shape.type === "t") kept.push([key, null]);
    else if (item !== null) {
      const clean = read(shape, item, { struct: name, path, dropped: walk.dropped });
      if (!isEmpty(shape, clean)) kept.push([key, clean]);
    }
  }
  return Object.fromEntries(kept);
};

const readMap = (of: Shape, value: unknown, walk: Walk): Fields => {
  if (!isFields(value)) throw refuse(walk, value, "map");
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, read(of, item, walk)]),
  );
};

const readList = (of: Shape, value: unknown, walk: Walk): readonly unknown[] => {
  if (!Array.isArray(value)) throw refuse(walk, value, "slice");
  return value.map((item, i) => read(of, item, { ...walk, path: `${walk.path}[${i}]` }));
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

/** The fields of an object as its kind's decoder keeps them, and the paths of those that it does not know. */
export const typed = (kind: Kind, object: Fields): { readonly fields: Fields; readonly dropped: readonly string[] } => {
  const shape = shapeOfKind(kind);
  if (shape === undefined || shape.is !== "struct") return { fields: object, dropped: [] };
  const { apiVersion, kind: name, metadata, ...rest } = object;
  const dropped: string[] = [];
  const kept = readStruct(kind.kind, shape.field, rest, { struct: kind.kind, path: "", dropped });
  return { fields: { kind: name, apiVersion, metadata, ...kept }, dropped };
};
