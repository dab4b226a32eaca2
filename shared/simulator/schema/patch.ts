/** Patches of immutable values: JSON patch (RFC 6902), JSON merge patch (RFC 7386), and the strategic merge patch of
 * built-in kinds. */

import { at, type Fields, isFields, itemsAt, same, textAt, withField } from "../storage/json.ts";
import { badRequest, Refusal } from "../storage/refusal.ts";

/** A merge patch: null removes, objects merge, everything else replaces. */
export const mergePatch = (value: unknown, patch: unknown): unknown => {
  if (!isFields(patch)) return patch;
  let merged: Fields = isFields(value) ? value : {};
  for (const [key, item] of Object.entries(patch))
    merged = withField(merged, key, item === null ? undefined : mergePatch(at(merged, key), item));
  return merged;
};

/** The server does not say which operation failed, nor why. */
const unprocessable = (): Refusal =>
  new Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {});

const pathOf = (pointer: string): readonly string[] => {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw unprocessable();
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
};

const indexIn = (list: readonly unknown[], key: string): number => {
  const index = key === "-" ? list.length : Number(key);
  if (!Number.isInteger(index) || index < 0 || index > list.length) throw unprocessable();
  return index;
};

const valueAt = (value: unknown, path: readonly string[]): unknown => {
  let here = value;
  for (const key of path) {
    if (Array.isArray(here)) here = here[indexIn(here, key)];
    else if (isFields(here) && Object.hasOwn(here, key)) here = here[key];
    else throw unprocessable();
  }
  return here;
};

type Edit = (parent: unknown, key: string) => unknown;

/** Applies an edit to the container at the end of a path, copying on the way down. */
const editAt = (value: unknown, path: readonly string[], edit: Edit, depth = 0): unknown => {
  const key = path[depth] ?? "";
  if (depth === path.length - 1) return edit(value, key);
  if (Array.isArray(value)) {
    const i = indexIn(value, key);
    return value.with(i, editAt(value[i], path, edit, depth + 1));
  }
  if (!isFields(value) || !Object.hasOwn(value, key)) throw unprocessable();
  return withField(value, key, editAt(value[key], path, edit, depth + 1));
};

const add = (value: unknown, path: readonly string[], item: unknown): unknown =>
  path.length === 0
    ? item
    : editAt(value, path, (parent, key) => {
        if (Array.isArray(parent)) return parent.toSpliced(indexIn(parent, key), 0, item);
        if (isFields(parent)) return withField(parent, key, item);
        throw unprocessable();
      });

const remove = (value: unknown, path: readonly string[]): unknown => {
  valueAt(value, path);
  return editAt(value, path, (parent, key) => {
    if (Array.isArray(parent)) return parent.toSpliced(indexIn(parent, key), 1);
    return isFields(parent) ? withField(parent, key, undefined) : parent;
  });
};

const replace = (value: unknown, path: readonly string[], item: unknown): unknown => {
  valueAt(value, path);
  if (path.length === 0) return item;
  return editAt(value, path, (parent, key) => {
    if (Array.isArray(parent)) return parent.with(indexIn(parent, key), item);
    return isFields(parent) ? withField(parent, key, item) : parent;
  });
};

type Operation = { readonly path: readonly string[]; readonly from: readonly string[]; readonly value: unknown };

const operations: Readonly<Record<string, (value: unknown, operation: Operation) => unknown>> = {
  add: (value, { path, value: item }) => add(value, path, item),
  remove: (value, { path }) => remove(value, path),
  replace: (value, { path, value: item }) => replace(value, path, item),
  move: (value, { path, from }) => add(remove(value, from), path, valueAt(value, from)),
  copy: (value, { path, from }) => add(value, path, valueAt(value, from)),
  test: (value, { path, value: item }) => {
    if (!same(valueAt(value, path), item)) throw unprocessable();
    return value;
  },
};

/** Applies all operations of a JSON patch one after the other, or throws the refusal of the first that fails. */
export const jsonPatch = (value: unknown, patch: unknown): unknown => {
  if (!Array.isArray(patch))
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
  let here = value;
  for (const step of patch) {
    const apply = operations[textAt(step, "op") ?? ""];
    if (apply === undefined) throw unprocessable();
    here = apply(here, {
      path: pathOf(textAt(step, "path") ?? ""),
      from: pathOf(textAt(step, "from") ?? ""),
      value: at(step, "value"),
    });
  }
  return here;
};

/** The merge key of the lists that have one, by the list's name; `mergeKeyOf` has the exceptions. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  ephemeralContainers: "name",
  env: "name",
  volumes: "name",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
  imagePullSecrets: "name",
  secrets: "name",
  hostAliases: "ip",
  hostIPs: "ip",
  podIPs: "ip",
  conditions: "type",
  addresses: "type",
  ownerReferences: "uid",
  topologySpreadConstraints: "topologyKey",
  schedulingGates: "name",
  resourceClaims: "name",
  resourceClaimStatuses: "name",
  webhooks: "name",
};

/** Lists of plain values that are sets. */
const sets = new Set(["finalizers"]);

/**
 * The merge key of a list, by its place. Ports of a container have another than ports of a service; a service account's
 * imagePullSecrets, at the top of the object, have none.
 */
export const mergeKeyOf = (path: readonly string[]): string | undefined => {
  const name = path.at(-1) ?? "";
  if (name === "imagePullSecrets" && path.length === 1) return undefined;
  if (name === "ports") return path.at(-2) === "spec" ? "port" : "containerPort";
  return mergeKeys[name];
};

const directive = "$patch";
const orderOf = "$setElementOrder/";
const deleteFrom = "$deleteFromPrimitiveList/";
const retain = "$retainKeys";

const isDirective = (key: string): boolean => key.startsWith("$");

const mergeSet = (value: unknown, patch: readonly unknown[], dropped: readonly unknown[]): readonly unknown[] => {
  const kept = (Array.isArray(value) ? value : []).filter((item) => !dropped.includes(item));
  return [...kept, ...patch.filter((item) => !kept.includes(item))];
};

const mergeOne = (
  list: readonly unknown[],
  item: unknown,
  key: string,
  path: readonly string[],
): readonly unknown[] => {
  const id = at(item, key);
  const i = list.findIndex((each) => at(each, key) === id);
  if (textAt(item, directive) === "delete") return i < 0 ? list : list.toSpliced(i, 1);
  if (i < 0) return [...list, mergeFields({}, isFields(item) ? item : {}, path)];
  return list.with(i, strategicMerge(list[i], item, path));
};

const sorted = (list: readonly unknown[], order: readonly unknown[], key: string): readonly unknown[] => {
  if (order.length === 0) return list;
  const ids = order.map((each) => at(each, key));
  const rank = (item: unknown): number => {
    const i = ids.indexOf(at(item, key));
    return i < 0 ? ids.length : i;
  };
  return list.toSorted((a, b) => rank(a) - rank(b));
};

const mergeList = (
  value: unknown,
  patch: readonly unknown[],
  key: string,
  path: readonly string[],
): readonly unknown[] => {
  const replaced = patch.some((item) => textAt(item, directive) === "replace");
  const start: readonly unknown[] = replaced || !Array.isArray(value) ? [] : value;
  return patch
    .filter((item) => textAt(item, directive) !== "replace")
    .reduce<readonly unknown[]>((list, item) => mergeOne(list, item, key, path), start);
};

const mergeField = (before: unknown, item: unknown, path: readonly string[]): unknown => {
  if (!Array.isArray(item)) return strategicMerge(before, item, path);
  const key = mergeKeyOf(path);
  if (key !== undefined) return mergeList(before, item, key, path);
  return sets.has(path.at(-1) ?? "") ? mergeSet(before, item, []) : item;
};

const retained = (fields: Fields, keys: readonly unknown[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => keys.includes(key)));

const inOrder = (merged: Fields, patch: Fields, path: readonly string[]): Fields =>
  Object.keys(patch)
    .filter((key) => key.startsWith(orderOf))
    .reduce((fields, key) => {
      const name = key.slice(orderOf.length);
      const mergeKey = mergeKeyOf([...path, name]);
      const list = at(fields, name);
      if (mergeKey === undefined || !Array.isArray(list)) return fields;
      return withField(fields, name, sorted(list, itemsAt(patch, key), mergeKey));
    }, merged);

const mergeFields = (value: Fields, patch: Fields, path: readonly string[]): Fields => {
  let merged = retain in patch ? retained(value, itemsAt(patch, retain)) : value;
  for (const [key, item] of Object.entries(patch)) {
    if (key.startsWith(deleteFrom)) {
      const name = key.slice(deleteFrom.length);
      merged = withField(merged, name, mergeSet(at(merged, name), [], Array.isArray(item) ? item : []));
    } else if (!isDirective(key))
      merged = withField(merged, key, item === null ? undefined : mergeField(at(merged, key), item, [...path, key]));
  }
  return inOrder(merged, patch, path);
};

/** The value after a strategic merge patch; `path` is its place in the object. */
export const strategicMerge = (value: unknown, patch: unknown, path: readonly string[] = []): unknown => {
  if (!isFields(patch)) return patch;
  const how = textAt(patch, directive);
  if (how === "delete") return undefined;
  const base = isFields(value) && how !== "replace" ? value : {};
  return mergeFields(base, patch, path);
};
