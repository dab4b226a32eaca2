/** Strategic merge patch of built-in kinds: lists with a merge key merge by it, as kubectl apply needs. */
import { at, type Fields, isFields, itemsAt, textAt, withField } from "./json.ts";

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
