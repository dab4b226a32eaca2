/** Pruning and defaulting by a structural schema, before validation. */
import { type Fields, fieldsAt, isFields } from "./json.ts";

const rootFields = new Set(["apiVersion", "kind", "metadata"]);

/** The pruner's position, and the paths that it has dropped. */
type Walk = { readonly path: string; readonly dropped: string[] };

const into = (walk: Walk, key: string): Walk => ({
  path: walk.path === "" ? key : `${walk.path}.${key}`,
  dropped: walk.dropped,
});

/** The schema of a property: undefined when it is unknown, "any" when everything below is kept. */
const schemaFor = (schema: Fields, key: string): Fields | "any" | undefined => {
  const properties = fieldsAt(schema, "properties");
  const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (isFields(own)) return own;
  const additional = schema["additionalProperties"];
  if (isFields(additional)) return additional;
  return additional === true || schema["x-kubernetes-preserve-unknown-fields"] === true ? "any" : undefined;
};

const keepsAsResource = (schema: Fields, key: string): boolean =>
  schema["x-kubernetes-embedded-resource"] === true && rootFields.has(key);

const prunedFields = (schema: Fields, value: Fields, walk: Walk): Fields => {
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const below = keepsAsResource(schema, key) ? "any" : schemaFor(schema, key);
    const here = into(walk, key);
    if (below === undefined) here.dropped.push(here.path);
    else kept.push([key, below === "any" ? item : pruned(below, item, here)]);
  }
  return Object.fromEntries(kept);
};

/** A copy without the fields that the schema does not know; their paths are added to `walk.dropped`. */
const pruned = (schema: Fields, value: unknown, walk: Walk): unknown => {
  if (Array.isArray(value)) {
    const items = schema["items"];
    if (!isFields(items)) return value;
    return value.map((item, i) => pruned(items, item, { path: `${walk.path}[${i}]`, dropped: walk.dropped }));
  }
  return isFields(value) ? prunedFields(schema, value, walk) : value;
};

/** A custom object without fields that its schema does not know, and the dropped paths. Metadata is left as it is. */
export const pruneRoot = (schema: Fields, object: Fields): { readonly object: Fields; readonly dropped: string[] } => {
  const dropped: string[] = [];
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(object)) {
    const below = rootFields.has(key) ? "any" : schemaFor(schema, key);
    if (below === undefined) dropped.push(key);
    else kept.push([key, below === "any" ? value : pruned(below, value, { path: key, dropped })]);
  }
  return { object: Object.fromEntries(kept), dropped: dropped.sort() };
};

const lacks = (schema: Fields, value: unknown): boolean =>
  value === undefined || (value === null && schema["nullable"] !== true);

/** Names of the properties that have a default. */
const named = new WeakMap<Fields, readonly string[]>();

const withDefault = (properties: Fields): readonly string[] => {
  const known = named.get(properties);
  if (known !== undefined) return known;
  const found = Object.keys(properties).filter((key) => "default" in fieldsAt(properties, key));
  named.set(properties, found);
  return found;
};

const defaultedFields = (schema: Fields, value: Fields): Fields => {
  const properties = fieldsAt(schema, "properties");
  const additional = schema["additionalProperties"];
  const entries: [string, unknown][] = [];
  let changed = false;
  for (const [key, item] of Object.entries(value)) {
    const below = Object.hasOwn(properties, key) ? properties[key] : additional;
    const full = isFields(below) ? defaulted(below, item) : item;
    const stays = full !== null || !isFields(below) || below["nullable"] === true;
    changed ||= full !== item || !stays;
    if (stays) entries.push([key, full]);
  }
  for (const key of withDefault(properties)) {
    if (Object.hasOwn(value, key)) continue;
    const below = fieldsAt(properties, key);
    entries.push([key, defaulted(below, below["default"])]);
    changed = true;
  }
  return changed ? Object.fromEntries(entries) : value;
};

/** A copy with the schema's defaults in existing objects, and without nulls that the schema forbids. */
export const defaulted = (schema: Fields, value: unknown): unknown => {
  if (lacks(schema, value) && "default" in schema) return schema["default"];
  if (Array.isArray(value)) {
    const items = schema["items"];
    return isFields(items) ? value.map((item) => defaulted(items, item)) : value;
  }
  return isFields(value) ? defaultedFields(schema, value) : value;
};
