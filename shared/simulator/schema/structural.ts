/** Structural schemas of custom kinds: prune, fill up with defaults, then validate, in the words of the real server. */

import { type Fields, fieldsAt, isFields, itemsAt, same } from "../storage/json.ts";
import { type Cause, cause } from "../storage/refusal.ts";

/** The name of a value's type as the messages say it. */
const typeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
};

const fits = (wanted: string, found: string): boolean =>
  wanted === found || (wanted === "number" && found === "integer");

const patterns = new WeakMap<Fields, RegExp>();

const patternOf = (schema: Fields, source: string): RegExp => {
  const known = patterns.get(schema);
  if (known !== undefined) return known;
  const compiled = new RegExp(source);
  patterns.set(schema, compiled);
  return compiled;
};

type Check = (limit: unknown, value: unknown, path: string, schema: Fields) => Cause | undefined;

const numeric =
  (fails: (value: number, limit: number) => boolean, words: string): Check =>
  (limit, value, path) =>
    typeof value === "number" && typeof limit === "number" && fails(value, limit)
      ? cause.invalid(path, value, `${path} in body ${words} ${limit}`)
      : undefined;

const sized =
  (
    length: (value: unknown) => number | undefined,
    fails: (n: number, limit: number) => boolean,
    words: string,
  ): Check =>
  (limit, value, path) => {
    const n = length(value);
    return n !== undefined && typeof limit === "number" && fails(n, limit)
      ? cause.invalid(path, value, `${path} in body ${words.replace("%", String(limit))}`)
      : undefined;
  };

const chars = (value: unknown) => (typeof value === "string" ? [...value].length : undefined);
const props = (value: unknown) => (isFields(value) ? Object.keys(value).length : undefined);
const below = (a: number, b: number) => a < b;
const above = (a: number, b: number) => a > b;

const instant = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

const tooMany = (value: unknown, limit: unknown, path: string): Cause | undefined =>
  Array.isArray(value) && typeof limit === "number" && value.length > limit
    ? {
        reason: "FieldValueTooMany",
        message: `Too many: ${value.length}: must have at most ${limit} items`,
        field: path,
      }
    : undefined;

/** One row per keyword of a schema. */
const checks: Readonly<Record<string, Check>> = {
  minimum: numeric(below, "should be greater than or equal to"),
  maximum: numeric(above, "should be less than or equal to"),
  minLength: sized(chars, below, "should be at least % chars long"),
  maxLength: (limit, value, path) =>
    typeof value === "string" && typeof limit === "number" && [...value].length > limit
      ? cause.tooLong(path, `may not be more than ${limit} bytes`)
      : undefined,
  minItems: (limit, value, path) =>
    Array.isArray(value) && typeof limit === "number" && value.length < limit
      ? cause.invalid(path, value.length, `${path} in body should have at least ${limit} items`)
      : undefined,
  maxItems: (limit, value, path) => tooMany(value, limit, path),
  minProperties: sized(props, below, "should have at least % properties"),
  maxProperties: sized(props, above, "should have at most % properties"),
  multipleOf: numeric((value, limit) => value % limit !== 0, "should be a multiple of"),
  enum: (allowed, value, path) =>
    Array.isArray(allowed) && !allowed.some((each) => same(each, value))
      ? cause.unsupported(path, value, allowed)
      : undefined,
  pattern: (source, value, path, schema) =>
    typeof source === "string" && typeof value === "string" && !patternOf(schema, source).test(value)
      ? cause.invalid(path, value, `${path} in body should match '${source}'`)
      : undefined,
  format: (format, value, path) =>
    format === "date-time" && typeof value === "string" && !(instant.test(value) && !Number.isNaN(Date.parse(value)))
      ? {
          ...cause.invalid(path, value, `${path} in body must be of type date-time: "${value}"`),
          reason: "FieldValueTypeInvalid",
        }
      : undefined,
};

const rows = Object.entries(checks);

const ownFaults = (schema: Fields, value: unknown, path: string): readonly Cause[] => {
  const found: Cause[] = [];
  for (const [keyword, check] of rows) {
    const fault = keyword in schema ? check(schema[keyword], value, path, schema) : undefined;
    if (fault !== undefined) found.push(fault);
  }
  return found;
};

/** The faults of a fraction where the schema has an integer with a format. */
const fractionFaults = (schema: Fields, value: unknown, path: string): readonly Cause[] => {
  const { type, format } = schema;
  if (type !== "integer" || typeof format !== "string" || typeof value !== "number" || Number.isInteger(value))
    return [];
  const words = `Checked value must be of type integer with format ${format} in ${path}`;
  return [cause.type(path, "float64", format), cause.invalid("<nil>", "", words)];
};

const typeFault = (schema: Fields, value: unknown, path: string): Cause | undefined => {
  const found = typeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true)
    return found === "integer" || found === "string" ? undefined : cause.type(path, found, "integer,string");
  const wanted = schema["type"];
  return typeof wanted !== "string" || wanted === "" || fits(wanted, found)
    ? undefined
    : cause.type(path, found, wanted);
};

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

const requiredFaults = (schema: Fields, value: Fields, path: string): readonly Cause[] =>
  itemsAt(schema, "required")
    .filter((name): name is string => typeof name === "string" && !Object.hasOwn(value, name))
    .map((name) => cause.required(join(path, name)));

const fieldFaults = (schema: Fields, value: Fields, path: string): readonly Cause[] => {
  const properties = fieldsAt(schema, "properties");
  const additional = schema["additionalProperties"];
  return Object.entries(value).flatMap(([key, item]) => {
    const under = Object.hasOwn(properties, key) ? properties[key] : additional;
    return isFields(under) ? faults(under, item, join(path, key)) : [];
  });
};

const below1 = (schema: Fields, value: unknown, path: string): readonly Cause[] => {
  if (Array.isArray(value)) {
    const each = schema["items"];
    const within = isFields(each) ? value.flatMap((item, i) => faults(each, item, `${path}[${i}]`)) : [];
    return [...within, ...repeats(schema, value, path)];
  }
  return isFields(value) ? [...fieldFaults(schema, value, path), ...requiredFaults(schema, value, path)] : [];
};

const keyOfItem = (schema: Fields, item: unknown): unknown => {
  if (schema["x-kubernetes-list-type"] === "set") return item;
  const keys = itemsAt(schema, "x-kubernetes-list-map-keys").filter((key): key is string => typeof key === "string");
  return Object.fromEntries(
    keys.flatMap((key) => (fieldsAt(item)[key] === undefined ? [] : [[key, fieldsAt(item)[key]]])),
  );
};

/** The faults of items that occur twice in a set or in a list by key. */
const repeats = (schema: Fields, list: readonly unknown[], path: string): readonly Cause[] => {
  if (schema["x-kubernetes-list-type"] !== "map" && schema["x-kubernetes-list-type"] !== "set") return [];
  const keys = list.map((item) => keyOfItem(schema, item));
  return keys.flatMap((key, i) =>
    keys.findIndex((each) => same(each, key)) < i ? [cause.duplicate(`${path}[${i}]`, key)] : [],
  );
};

const holds = (schema: unknown, value: unknown, path: string): boolean =>
  !isFields(schema) || faults(schema, value, path).length === 0;

const junctionFaults = (schema: Fields, value: unknown, path: string): readonly Cause[] => {
  const any = itemsAt(schema, "anyOf");
  const one = itemsAt(schema, "oneOf");
  const fail = (words: string) => [cause.invalid("<nil>", "", `"${path}" ${words}`)];
  const [first] = any;
  return [
    ...itemsAt(schema, "allOf").flatMap((each) => (isFields(each) ? faults(each, value, path) : [])),
    ...(any.length > 0 && !any.some((each) => holds(each, value, path))
      ? [...fail("must validate at least one schema (anyOf)"), ...(isFields(first) ? faults(first, value, path) : [])]
      : []),
    ...(one.length > 0 && one.filter((each) => holds(each, value, path)).length !== 1
      ? fail("must validate one and only one schema (oneOf)")
      : []),
    ...(isFields(schema["not"]) && holds(schema["not"], value, path) ? fail("must not validate the schema (not)") : []),
  ];
};

/** All faults of a value; empty when the value is valid. */
export const faults = (schema: Fields, value: unknown, path: string): readonly Cause[] => {
  if (value === null && schema["nullable"] === true) return [];
  const fraction = fractionFaults(schema, value, path);
  if (fraction.length > 0) return fraction;
  const type = typeFault(schema, value, path);
  if (type !== undefined) return [type, ...junctionFaults(schema, value, path)];
  return [...ownFaults(schema, value, path), ...junctionFaults(schema, value, path), ...below1(schema, value, path)];
};

/** The faults of a status that is written through its subresource. The messages omit the head of the path. */
export const statusFaults = (schema: Fields, object: Fields): readonly Cause[] => {
  const below = fieldsAt(schema, "properties", "status");
  const status = object["status"];
  if (status === undefined) return [];
  return faults(below, status, "").map((each) => ({
    ...each,
    field: each.field === "" ? "status" : `status.${each.field}`,
  }));
};

/** The faults of a custom object without its metadata, which other rules check. */
export const rootFaults = (schema: Fields, object: Fields): readonly Cause[] => {
  const { metadata, ...rest } = object;
  const required = itemsAt(schema, "required").filter((name) => name !== "metadata");
  return faults({ ...schema, required }, rest, "").map((each) =>
    each.field === "" ? { ...each, field: "<nil>" } : each,
  );
};

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
