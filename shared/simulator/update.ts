/** PUT and PATCH: change an object. */
import { mutated, validated } from "./admission.ts";
import { judge, type Written } from "./create.ts";
import { type How, readDraft } from "./drafts.ts";
import { type Fields, same } from "./json.ts";
import type { Kind } from "./kinds.ts";
import { managed } from "./managed.ts";
import { type Draft, type Item, type Meta, metaOf } from "./metadata.ts";
import { finalizerFaults } from "./names.ts";
import { badRequest, type Cause, cause, conflict, invalid, modified, noSuchResource } from "./refusal.ts";
import { ruleOf } from "./rules.ts";
import { found, type Server, type Target, type WriteOptions } from "./server.ts";
import { keyOf } from "./store.ts";

/** Refuses another UID: for a PUT it is a failed precondition, for a PATCH a change of an immutable field. */
const checkUid = (kind: Kind, before: Item, given: Meta, how: How): void => {
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
  const asked = given.resourceVersion ?? "";
  if (asked === "" && !kind.unconditional)
    throw invalid({ ...kind, kind: kind.plural }, name, [
      cause.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  if (asked !== "" && asked !== resourceVersion) throw modified(kind, name);
};

const checkPlace = (before: Item, given: Meta): void => {
  const { name, namespace } = before.metadata;
  if (given.name !== "" && given.name !== name)
    throw badRequest(`the name of the object (${given.name}) does not match the name on the URL (${name})`);
  if (given.namespace !== undefined && given.namespace !== namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
};

/** The metadata after a write: a writer sets some fields, the others stay the server's. */
const mergedMeta = (before: Item["metadata"], given: Meta): Item["metadata"] => ({
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
  const status = given["status"];
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
  const status = before["status"];
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
export type Next = (current: Item) => unknown;

/** Changes the object, or throws the refusal. A PUT's `next` ignores the current object, a PATCH's starts from it. */
export const update = (
  server: Server,
  target: Target,
  next: Next,
  options: WriteOptions,
  how: How = "patched",
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
