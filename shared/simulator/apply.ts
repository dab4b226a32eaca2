/** Server-side apply: a field that the manager no longer lists, and that no other manager owns, is removed. */
import { create } from "./create.ts";
import { readDraft } from "./drafts.ts";
import { at, type Fields, fieldsAt, isFields, same, textAt, withAt } from "./json.ts";
import { apiVersionOf, type Kind } from "./kinds.ts";
import { sameOwner, sharesOf } from "./managed.ts";
import type { Item } from "./metadata.ts";
import { type FieldSet, keyValue, leavesOf, minus, type Share, shownPath } from "./ownership.ts";
import { badOptions, badRequest, Refusal } from "./refusal.ts";
import { type Server, type Target, timeOf, type WriteOptions } from "./server.ts";
import { metadataShape, type Shape, shapeOfKind } from "./shapes.ts";
import { keyOf } from "./store.ts";
import { update } from "./update.ts";

export type Applied = { readonly item: Item; readonly created: boolean; readonly warnings: readonly string[] };
export type ApplyOptions = WriteOptions & { readonly force: boolean };

const unshaped: Shape = { is: "any" };

const below = (shape: Shape, key: string): Shape => {
  if (shape.is === "struct") return shape.field(key) ?? unshaped;
  return shape.is === "map" ? shape.of : unshaped;
};

const sameItem = (keys: readonly string[], a: unknown, b: unknown): boolean =>
  keys.every((key) => same(keyValue(a, key), keyValue(b, key)));

const mergedList = (
  shape: Extract<Shape, { is: "list" }>,
  live: readonly unknown[],
  wanted: readonly unknown[],
): readonly unknown[] => {
  const { merge, of } = shape;
  if (merge === "atomic") return wanted;
  if (merge === "set") return [...live, ...wanted.filter((item) => !live.some((each) => same(each, item)))];
  const kept = live.map((item) => {
    const change = wanted.find((each) => sameItem(merge, each, item));
    return change === undefined ? item : merged(of, item, change);
  });
  return [...kept, ...wanted.filter((item) => !live.some((each) => sameItem(merge, each, item)))];
};

/** The live value, merged with the wanted one. */
const merged = (shape: Shape, live: unknown, wanted: unknown): unknown => {
  if (shape.is === "list" && Array.isArray(live) && Array.isArray(wanted)) return mergedList(shape, live, wanted);
  if (shape.is === "leaf" || !isFields(live) || !isFields(wanted)) return wanted;
  const changes = Object.entries(wanted).map(([key, item]): [string, unknown] => [
    key,
    Object.hasOwn(live, key) ? merged(below(shape, key), live[key], item) : item,
  ]);
  return { ...live, ...Object.fromEntries(changes) };
};

const isAt = (step: string, item: unknown): boolean => {
  if (step.startsWith("v:")) return same(JSON.parse(step.slice(2)), item);
  return Object.entries(fieldsAt(JSON.parse(step.slice(2)))).every(([key, value]) => same(keyValue(item, key), value));
};

/** A copy without the field at a path. */
const without = (value: unknown, [step = "", ...rest]: readonly string[]): unknown => {
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.filter((item) => !isAt(step, item));
    return value.map((item) => (isAt(step, item) ? without(item, rest) : item));
  }
  const key = step.slice(2);
  if (!isFields(value) || !Object.hasOwn(value, key)) return value;
  if (rest.length > 0) return { ...value, ...Object.fromEntries([[key, without(value[key], rest)]]) };
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
};

/** Shortest first: an item is removed before its fields, while its key still tells it from others. */
const withoutAll = (object: unknown, paths: FieldSet): unknown =>
  [...paths]
    .sort((a, b) => a.length - b.length)
    .reduce<unknown>((value, path) => without(value, path.split("\n")), object);

const withAll = (kind: Kind, live: unknown, wanted: Fields): unknown => {
  const { metadata, ...rest } = wanted;
  const { name: _n, namespace: _ns, ...meta } = fieldsAt(metadata);
  const whole = merged(shapeOfKind(kind) ?? unshaped, live, rest);
  return withAt(whole, ["metadata"], merged(metadataShape, at(live, "metadata"), meta));
};

type Conflict = { readonly share: Share; readonly path: string };

const conflictsOf = (
  kind: Kind,
  live: Item,
  wanted: ReadonlyMap<string, unknown>,
  others: readonly Share[],
): readonly Conflict[] => {
  const now = leavesOf(kind, live);
  return others.flatMap((share) =>
    [...share.set]
      .filter((path) => wanted.has(path) && !same(now.get(path), wanted.get(path)))
      .map((path) => ({ share, path })),
  );
};

const refuse = (conflicts: readonly Conflict[]): Refusal => {
  const causes = conflicts.map(({ share, path }) => {
    const using = share.operation === "Update" ? ` using ${share.apiVersion}` : "";
    return {
      reason: "FieldManagerConflict",
      message: `conflict with "${share.manager}"${using}`,
      field: shownPath(path),
    };
  });
  const [only] = causes;
  const text =
    causes.length === 1
      ? `1 conflict: ${only?.message}: ${only?.field}`
      : `${causes.length} conflicts: ${causes.map(({ message, field }) => `${message}:\n- ${field}`).join("\n")}`;
  return new Refusal(409, "Conflict", `Apply failed with ${text}`, { causes });
};

const shareFor = (server: Server, { kind, sub }: Target, set: FieldSet, manager: string): Share => ({
  manager,
  operation: "Apply",
  apiVersion: apiVersionOf(kind),
  time: timeOf(server),
  subresource: sub ?? "",
  set,
});

/** The owners of fields after the manager has forced its conflicts. */
const sharesAfter = (others: readonly Share[], mine: Share, taken: readonly Conflict[]): readonly Share[] => [
  ...others.map((share) => ({
    ...share,
    set: minus(share.set, new Set(taken.filter((each) => each.share === share).map(({ path }) => path))),
  })),
  mine,
];

/** The fields that the manager owned alone and no longer lists. */
const givenUp = (before: readonly Share[], others: readonly Share[], mine: Share): FieldSet => {
  const owned = before.find((share) => sameOwner(share, mine))?.set ?? new Set<string>();
  return minus(
    others.reduce<FieldSet>((set, share) => minus(set, share.set), owned),
    mine.set,
  );
};

const checkManager = ({ manager }: ApplyOptions): void => {
  if (manager === "")
    throw badOptions("PatchOptions", "fieldManager", {
      reason: "FieldValueRequired",
      message: "Required value: is required for apply patch",
    });
};

const checkName = (given: string, name: string): void => {
  if (given !== "" && given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
};

/** Applies, or throws the refusal. */
export const apply = (server: Server, target: Target, body: unknown, options: ApplyOptions): Applied => {
  checkManager(options);
  if (!isFields(body)) throw badRequest("error decoding YAML: not an object");
  if (textAt(body, "kind") === undefined)
    throw badRequest(`invalid object type: ${textAt(body, "apiVersion") ?? "/"}, Kind=`);
  const { kind, namespace, name = "", sub } = target;
  const { draft: wanted } = readDraft(kind, body, options, "applied");
  checkName(wanted.metadata.name, name);
  const leaves = leavesOf(kind, wanted);
  const mine = shareFor(server, target, new Set(leaves.keys()), options.manager);
  const live = server.store.get(kind.table, keyOf(namespace, name));
  if (live === undefined && sub === undefined)
    return { ...create(server, target, body, { ...options, shares: [mine] }), created: true };
  const before = sharesOf(live);
  const others = before.filter((share) => !sameOwner(share, mine));
  const taken = live === undefined ? [] : conflictsOf(kind, live, leaves, others);
  if (taken.length > 0 && !options.force) throw refuse(taken);
  const next = (current: Item): unknown => withAll(kind, withoutAll(current, givenUp(before, others, mine)), wanted);
  const shares = sharesAfter(others, mine, taken);
  return { ...update(server, target, next, { ...options, shares }), created: false };
};
