/** The managers of fields: metadata.managedFields, kept through every write. */

import { changesBetween, leavesOf, minus, plus, readSet, type Share, writeSet } from "../schema/field-sets.ts";
import { apiVersionOf, type Kind } from "../schema/kinds.ts";
import { isFields, same, textAt } from "../storage/json.ts";
import { type Draft, type Item, metaOf } from "../storage/metadata.ts";
import { type Server, timeOf, type WriteOptions } from "./request.ts";

const shareOf = (entry: unknown): Share => ({
  manager: textAt(entry, "manager") ?? "",
  operation: textAt(entry, "operation") === "Apply" ? "Apply" : "Update",
  apiVersion: textAt(entry, "apiVersion") ?? "",
  time: textAt(entry, "time") ?? "",
  subresource: textAt(entry, "subresource") ?? "",
  set: readSet(isFields(entry) ? entry["fieldsV1"] : undefined),
});

export const sharesOf = (item: Draft | undefined): readonly Share[] =>
  (item?.metadata.managedFields ?? []).map(shareOf);

const entryOf = ({ manager, operation, apiVersion, time, subresource, set }: Share) => ({
  manager,
  operation,
  apiVersion,
  time,
  fieldsType: "FieldsV1",
  fieldsV1: writeSet(set),
  ...(subresource !== "" && { subresource }),
});

/** An object with these shares; unchanged ones keep their time. */
export const withShares = (item: Item, before: readonly Share[], shares: readonly Share[]): Item => {
  const { uid, resourceVersion } = item.metadata;
  const kept = shares
    .filter(({ set }) => set.size > 0)
    .map((share) => {
      const old = before.find((each) => sameOwner(each, share));
      return old !== undefined && same([...old.set].sort(), [...share.set].sort()) ? old : share;
    });
  const managedFields = kept.length > 0 ? kept.map(entryOf) : undefined;
  return { ...item, metadata: { ...metaOf({ ...item.metadata, managedFields }), uid, resourceVersion } };
};

export const sameOwner = (a: Share, b: Share): boolean =>
  a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource;

const updated = (server: Server, kind: Kind, before: Item | undefined, after: Item, options: WriteOptions): Item => {
  const { set, gone } = changesBetween(leavesOf(kind, before ?? {}), leavesOf(kind, after));
  const old = sharesOf(before);
  const touched = plus(set, gone);
  const mine: Share = {
    manager: options.manager,
    operation: "Update",
    apiVersion: apiVersionOf(kind),
    time: timeOf(server),
    subresource: options.subresource ?? "",
    set,
  };
  const others = old
    .filter((share) => !sameOwner(share, mine))
    .map((share) => ({ ...share, set: minus(share.set, touched) }));
  const own = old.find((share) => sameOwner(share, mine))?.set ?? new Set();
  return withShares(after, old, [...others, { ...mine, set: plus(minus(own, gone), set) }]);
};

/** A client that sends one empty entry gives up all ownership. */
const resets = (after: Item): boolean => {
  const [first, ...rest] = after.metadata.managedFields ?? [];
  return first !== undefined && rest.length === 0 && same(first, {});
};

/**
 * The object with the ownership after this write. Where no client has ever applied, ownership is kept only if the
 * simulator's options ask for it: nothing depends on it, and it costs as much as the rest of a write.
 */
export const managed = (
  server: Server,
  kind: Kind,
  before: Item | undefined,
  after: Item,
  options: WriteOptions,
): Item => {
  if (options.shares !== undefined) return withShares(after, sharesOf(before), options.shares);
  const tracked = server.managedFields || (before?.metadata.managedFields?.length ?? 0) > 0;
  if (!tracked) return after;
  if (resets(after)) return withShares(after, [], []);
  return updated(server, kind, before, after, options);
};
