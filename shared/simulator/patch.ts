/** JSON patch (RFC 6902) and JSON merge patch (RFC 7386) on immutable values. */
import { at, type Fields, isFields, same, textAt, withField } from "./json.ts";
import { badRequest, Refusal } from "./refusal.ts";

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
