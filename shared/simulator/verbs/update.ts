/** PUT, PATCH and server-side apply: change an object. An apply removes a field that its manager no longer lists and no other
 * manager owns. */

import { apiVersionOf, type Kind } from "../schema/kinds.ts";
import {
  type FieldSet,
  keyValue,
  leavesOf,
  metadataShape,
  minus,
  type Shape,
  type Share,
  shapeOfKind,
  shownPath,
} from "../schema/shapes.ts";
import { at, type Fields, fieldsAt, isFields, same, textAt, withAt } from "../storage/json.ts";
import { type Draft, finalizerFaults, type Item, type ItemMeta, type Meta, metaOf } from "../storage/metadata.ts";
import {
  badOptions,
  badRequest,
  type Cause,
  cause,
  conflict,
  invalid,
  modified,
  noSuchResource,
  Refusal,
} from "../storage/refusal.ts";
import { keyOf } from "../storage/store.ts";
import { mutated, validated } from "./admission.ts";
import { type BodyOrigin, managed, readDraft, sameOwner, sharesOf } from "./body.ts";
import { create, judge, type Written } from "./create.ts";
import { found, type Server, type Target, timeOf, type WriteOptions } from "./request.ts";
import { ruleOf } from "./rules.ts";

/** Refuses another UID: for a PUT it is a failed precondition, for a PATCH a change of an immutable field. */
const checkUid = (kind: Kind, before: Item, given: Meta, how: BodyOrigin): void => {
  const { name, namespace, uid } = before.metadata;
  if (given.uid === undefined || given.uid === "" || given.uid === uid) return;
  if (how !== "whole") throw invalid(kind, name, [cause.invalid("metadata.uid", given.uid, "field is immutable")]);
  throw conflict(
    kind,
    name,
    `StorageError: invalid object, Code: 4, Key: /registry/${kind.plural}/${keyOf(namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${uid}`,
  );
};

const checkRevision = (kind: Kind, before: Item, given: Meta): void => {
  const { name, resourceVersion } = before.metadata;
  const version = given.resourceVersion ?? "";
  if (version === "" && !kind.unconditional)
    throw invalid({ ...kind, kind: kind.plural }, name, [
      cause.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  if (version !== "" && version !== resourceVersion) throw modified(kind, name);
};

const checkPlace = (before: Item, given: Meta): void => {
  const { name, namespace } = before.metadata;
  if (given.name !== "" && given.name !== name)
    throw badRequest(`the name of the object (${given.name}) does not match the name on the URL (${name})`);
  if (given.namespace !== undefined && given.namespace !== namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
};

/** The metadata after a write: a writer sets some fields, the others stay the server's. */
const mergedMeta = (before: ItemMeta, given: Meta): ItemMeta => ({
  ...metaOf({
    ...before,
    labels: given.labels,
    annotations: given.annotations,
    ownerReferences: given.ownerReferences,
    finalizers: given.finalizers,
    managedFields: given.managedFields ?? before.managedFields,
  }),
  uid: before.uid,
  resourceVersion: before.resourceVersion,
});

/** A write to the status subresource changes the status alone; of custom objects not even the labels. */
const throughStatus = (kind: Kind, before: Item, given: Draft): Item => {
  const { status: _old, ...rest } = before;
  const status = given.status;
  const { ownerReferences, ...meta } = given.metadata;
  const metadata =
    kind.custom !== undefined
      ? before.metadata
      : mergedMeta(before.metadata, metaOf({ ...meta, ownerReferences: before.metadata.ownerReferences }));
  const accepted = ruleOf(kind).status?.(status) ?? status;
  return { ...rest, metadata, ...(accepted !== undefined && { status: accepted }) };
};

const throughMain = (kind: Kind, before: Item, given: Draft): Item => {
  const metadata = mergedMeta(before.metadata, given.metadata);
  if (!kind.status) return { ...given, metadata };
  const { status: _theirs, ...rest } = given;
  const status = before.status;
  return { ...rest, metadata, ...(status !== undefined && { status }) };
};

const content = ({ metadata, status, ...rest }: Draft, kind: Kind): Fields =>
  kind.status ? rest : { ...rest, status };

const counted = (kind: Kind, before: Item, after: Item): Item => {
  if (!kind.generation || same(content(before, kind), content(after, kind))) return after;
  const generation = (before.metadata.generation ?? 0) + 1;
  const { uid, resourceVersion } = after.metadata;
  return { ...after, metadata: { ...metaOf({ ...after.metadata, generation }), uid, resourceVersion } };
};

const updateFaults = (kind: Kind, before: Item, after: Item): readonly Cause[] => [
  ...finalizerFaults(before.metadata, after.metadata),
  ...(ruleOf(kind).updateFaults?.(before, after) ?? []),
];

const changed = (before: Item, after: Item): boolean => {
  return !same(before, after);
};

/** True when the last finalizer of a deleted object is gone and no grace is left. */
const isOver = ({ metadata }: Item): boolean =>
  metadata.deletionTimestamp !== undefined &&
  metadata.finalizers === undefined &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0;

/** Stores the change, unless there is none. */
const settle = (server: Server, kind: Kind, before: Item, after: Item, options: WriteOptions): Item => {
  if (options.dryRun) return after;
  const key = keyOf(before.metadata.namespace, before.metadata.name);
  if (isOver(after) && kind.table !== "namespaces") {
    server.store.remove(kind.table, key);
    return after;
  }
  return changed(before, after) ? server.store.put(kind.table, after) : before;
};

/** Makes the body of an update from the current object. */
type Next = (current: Item) => unknown;

/** Changes the object, or throws the refusal. A PUT's `next` ignores the current object, a PATCH's starts from it. */
export const update = (
  server: Server,
  target: Target,
  next: Next,
  options: WriteOptions,
  how: BodyOrigin = "patched",
): Written => {
  const { kind, sub } = target;
  if (sub !== undefined && !(sub === "status" && kind.status)) throw noSuchResource();
  const before = found(server, target);
  const { draft: given, warnings } = readDraft(kind, next(before), options, how);
  checkPlace(before, given.metadata);
  checkUid(kind, before, given.metadata, how);
  checkRevision(kind, before, given.metadata);
  const rule = ruleOf(kind);
  const merged = sub === "status" ? throughStatus(kind, before, given) : throughMain(kind, before, given);
  const ruled =
    sub === undefined && rule.update
      ? { ...merged, ...rule.update(before, merged), metadata: merged.metadata }
      : merged;
  const change = { kind, operation: "UPDATE", sub, old: before } as const;
  const { object, warnings: said } = mutated(server, { ...change, object: ruled }, options);
  const after = counted(kind, before, object);
  judge(kind, after, sub);
  const causes = sub === "status" ? [] : updateFaults(kind, before, after);
  if (causes.length > 0) throw invalid(kind, before.metadata.name, causes);
  const warned = [...warnings, ...said, ...validated(server, { ...change, object: after }, options)];
  return {
    item: settle(server, kind, before, managed(server, kind, before, after, options), options),
    warnings: warned,
  };
};

type Applied = { readonly item: Item; readonly created: boolean; readonly warnings: readonly string[] };
type ApplyOptions = WriteOptions & { readonly force: boolean };

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
