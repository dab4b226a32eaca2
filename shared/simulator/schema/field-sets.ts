/** Sets of fields, as managedFields keeps them: made from values, compared, written and read as FieldsV1. */

import { type Fields, fieldsAt, isFields, same } from "../storage/json.ts";
import type { Kind } from "./kinds.ts";
import { metadataShape, type Shape, shapeOfKind } from "./shapes.ts";

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

const unshaped: Shape = { is: "any" };

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
