/** Decodes objects of built-in kinds by their types: unknown fields are dropped, wrong types are refused. */
import { type Fields, isFields } from "./json.ts";
import type { Kind } from "./kinds.ts";
import { type Mistyped, mistyped } from "./refusal.ts";
import { type Shape, shapeOfKind } from "./shapes.ts";

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
