/** Compares two JSON values: lists every place where they differ, with both values. */

export type Difference = { readonly path: string; readonly ours: unknown; readonly theirs: unknown };

export type Json = { readonly [field: string]: unknown };

export const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Lists that Spark fills from hash tables, or that Kubernetes reads as sets: their order has no meaning. */
const unordered = new Set(["env", "volumes", "volumeMounts", "tolerations", "items"]);

/** Returns a value as text with sorted keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );

/** Keys the items of an unordered list by the field that distinguishes them; items with one name keep their order. */
const keyed = (items: readonly unknown[]): Json => {
  const seen = new Map<string, number>();
  return Object.fromEntries(
    items.map((item) => {
      const fields = isRecord(item) ? item : {};
      const name = `${fields["name"] ?? fields["key"] ?? canonical(item)}`;
      const label = fields["mountPath"] === undefined ? name : `${name}@${fields["mountPath"]}`;
      const count = (seen.get(label) ?? 0) + 1;
      seen.set(label, count);
      return [count === 1 ? label : `${label}#${count}`, item];
    }),
  );
};

const within = (path: string, key: string): string => (path === "" ? key : `${path}/${key}`);

const inObjects = (ours: Json, theirs: Json, path: string): readonly Difference[] =>
  [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((key) =>
    differences(ours[key], theirs[key], within(path, key)),
  );

const inLists = (ours: readonly unknown[], theirs: readonly unknown[], path: string): readonly Difference[] => {
  if (unordered.has(path.split("/").at(-1) ?? "")) return inObjects(keyed(ours), keyed(theirs), path);
  const length = Math.max(ours.length, theirs.length);
  return Array.from({ length }).flatMap((_, at) => differences(ours[at], theirs[at], within(path, `${at}`)));
};

export const differences = (ours: unknown, theirs: unknown, path = ""): readonly Difference[] => {
  if (Array.isArray(ours) && Array.isArray(theirs)) return inLists(ours, theirs, path);
  if (isRecord(ours) && isRecord(theirs)) return inObjects(ours, theirs, path);
  return ours === theirs ? [] : [{ path, ours, theirs }];
};
