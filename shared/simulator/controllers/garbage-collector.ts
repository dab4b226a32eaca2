/** The garbage collector: deletes objects without owners, and finishes deletions that wait for dependents or for the content of
 * a namespace or a CRD. */

import type { OwnerReference } from "../../core/object.ts";
import { crdTable, kindNamed, kindOfTable } from "../schema/kinds.ts";
import type { Task } from "../storage/clock.ts";
import { textAt } from "../storage/json.ts";
import { type Item, type ItemMeta, metaOf, ownersOf } from "../storage/metadata.ts";
import { type Change, keyOf } from "../storage/store.ts";
import { about, discard, keyOfItem, type Part, rewrite, runAfter, subject } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";
import { furnishNamespace } from "./initial-objects.ts";

const delayMs = 100;
const foreground = "foregroundDeletion";
const orphan = "orphan";

/** The owner of a reference; "unknown" for an unknown kind, which counts as existing; undefined: it is gone. */
const ownerOf = ({ store }: Server, dependent: Item, owner: OwnerReference): Item | "unknown" | undefined => {
  const kind = kindNamed(store, owner.apiVersion, owner.kind);
  if (kind === undefined) return "unknown";
  const item = store.get(kind.table, keyOf(kind.namespaced ? dependent.metadata.namespace : undefined, owner.name));
  return item?.metadata.uid === owner.uid ? item : undefined;
};

const goesInForeground = (owner: Item): boolean =>
  owner.metadata.deletionTimestamp !== undefined && owner.metadata.finalizers?.includes(foreground) === true;

const withMeta = (item: Item, change: Partial<Pick<ItemMeta, "ownerReferences" | "finalizers">>): Item => {
  const { uid, resourceVersion } = item.metadata;
  const { ownerReferences, finalizers } = { ...item.metadata, ...change };
  const some = <T>(list: readonly T[] | undefined): readonly T[] | undefined => (list?.length ? list : undefined);
  const meta = metaOf({ ...item.metadata, ownerReferences: some(ownerReferences), finalizers: some(finalizers) });
  return { ...item, metadata: { ...meta, uid, resourceVersion } };
};

type Place = { readonly table: string; readonly item: Item };

const dependentsOf = ({ store }: Server, uid: string): readonly Place[] =>
  store
    .tables()
    .filter((table) => table !== "events")
    .flatMap((table) =>
      store
        .list(table)
        .filter((item) => ownersOf(item).some((owner) => owner.uid === uid))
        .map((item) => ({ table, item })),
    );

/** Deletes an object without existing owners, or removes the references to owners that are gone. */
const examine = (server: Server, { table, item }: Place): void => {
  const owners = ownersOf(item).map((ref) => ({ ref, owner: ownerOf(server, item, ref) }));
  if (owners.length === 0 || item.metadata.deletionTimestamp !== undefined) return;
  const solid = owners.filter(({ owner }) => owner !== undefined && (owner === "unknown" || !goesInForeground(owner)));
  const waiting = owners.some(({ owner }) => owner !== undefined && owner !== "unknown" && goesInForeground(owner));
  if (solid.length === 0) {
    const foremost = waiting && dependentsOf(server, item.metadata.uid).length > 0;
    discard(server, table, item, { propagation: foremost ? "Foreground" : "Background" });
  } else if (solid.length < owners.length)
    rewrite(server, table, item, withMeta(item, { ownerReferences: solid.map(({ ref }) => ref) }));
};

const dropFinalizer = (server: Server, table: string, owner: Item, finalizer: string): void => {
  const finalizers = owner.metadata.finalizers?.filter((each) => each !== finalizer) ?? [];
  if (finalizers.length > 0) rewrite(server, table, owner, withMeta(owner, { finalizers }));
  else server.store.remove(table, keyOfItem(owner));
};

const release = (server: Server, table: string, owner: Item): void => {
  const { uid } = owner.metadata;
  for (const { table: theirs, item } of dependentsOf(server, uid)) {
    const ownerReferences = ownersOf(item).filter((ref) => ref.uid !== uid);
    rewrite(server, theirs, item, withMeta(item, { ownerReferences }));
  }
  dropFinalizer(server, table, owner, orphan);
};

const finishForeground = (server: Server, table: string, owner: Item): void => {
  const { uid } = owner.metadata;
  for (const place of dependentsOf(server, uid)) examine(server, place);
  const blocking = dependentsOf(server, uid).some(({ item }) =>
    ownersOf(item).some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true),
  );
  if (!blocking) dropFinalizer(server, table, owner, foreground);
};

const collect = (server: Server, task: Task): void => {
  for (const place of dependentsOf(server, textAt(task, "uid") ?? "")) examine(server, place);
};

const finalize = (server: Server, task: Task): void => {
  const table = textAt(task, "table") ?? "";
  const owner = subject(server, task);
  if (owner?.metadata.deletionTimestamp === undefined) return;
  if (owner.metadata.finalizers?.includes(orphan)) release(server, table, owner);
  else if (owner.metadata.finalizers?.includes(foreground)) finishForeground(server, table, owner);
};

const isFinalized = ({ metadata }: Item): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers?.some((each) => each === orphan || each === foreground) ?? false);

/** Wakes the owners that wait for the deletion of this object. */
const wakeOwners = (server: Server, item: Item): void => {
  for (const ref of ownersOf(item)) {
    const owner = ownerOf(server, item, ref);
    const kind = kindNamed(server.store, ref.apiVersion, ref.kind);
    if (owner !== undefined && owner !== "unknown" && kind !== undefined && goesInForeground(owner))
      runAfter(server, delayMs, about("collector.finalize", owner, { table: kind.table }));
  }
};

const orphaned = (server: Server, item: Item): boolean =>
  ownersOf(item).some((ref) => ownerOf(server, item, ref) === undefined);

const hearOwned = (server: Server, { type, table, object }: Change): void => {
  if (table === "events") return;
  if (type === "DELETED") {
    if (dependentsOf(server, object.metadata.uid).length > 0)
      runAfter(server, delayMs, about("collector.collect", object));
    wakeOwners(server, object);
  } else if (isFinalized(object)) runAfter(server, delayMs, about("collector.finalize", object, { table }));
  else if (orphaned(server, object)) runAfter(server, delayMs, about("collector.examine", object, { table }));
};

/** The garbage collector: deletes objects without owners, and finishes deletions that wait for dependents. */
export const collector = (server: Server): Part => ({
  onChange: (change) => hearOwned(server, change),
  tasks: {
    "collector.collect": (task) => collect(server, task),
    "collector.finalize": (task) => finalize(server, task),
    "collector.examine": (task) => {
      const item = subject(server, task);
      if (item !== undefined) examine(server, { table: textAt(task, "table") ?? "", item });
    },
  },
});

const inNamespace = ({ store }: Server, namespace: string): readonly Place[] =>
  store
    .tables()
    .filter((table) => kindOfTable(store, table)?.namespaced === true)
    .flatMap((table) =>
      store
        .list(table)
        .filter((item) => item.metadata.namespace === namespace)
        .map((item) => ({ table, item })),
    );

const contentOf = (server: Server, table: string, owner: Item): readonly Place[] =>
  table === "namespaces"
    ? inNamespace(server, owner.metadata.name)
    : server.store.list(owner.metadata.name).map((item) => ({ table: owner.metadata.name, item }));

/** Deletes the content of a container, and the container when nothing is left. */
const empty = (server: Server, task: Task): void => {
  const table = textAt(task, "table") ?? "";
  const owner = subject(server, task);
  if (owner?.metadata.deletionTimestamp === undefined) return;
  for (const { table: theirs, item } of contentOf(server, table, owner))
    if (item.metadata.deletionTimestamp === undefined) discard(server, theirs, item);
  if (contentOf(server, table, owner).length === 0) server.store.remove(table, keyOfItem(owner));
};

const isContainer = (table: string): boolean => table === "namespaces" || table === crdTable;

/** The containers of an object: its namespace, and its CRD. */
const containersOf = ({ store }: Server, table: string, item: Item): readonly Place[] => {
  const namespace = store.get("namespaces", item.metadata.namespace ?? "");
  const crd = store.get(crdTable, table);
  return [
    ...(namespace === undefined ? [] : [{ table: "namespaces", item: namespace }]),
    ...(crd === undefined ? [] : [{ table: crdTable, item: crd }]),
  ];
};

const hearContent = (server: Server, change: Change): void => {
  const { type, table, object } = change;
  furnishNamespace(server, change);
  if (type !== "DELETED" && isContainer(table) && object.metadata.deletionTimestamp !== undefined)
    runAfter(server, delayMs, about("contents.empty", object, { table }));
  if (type === "DELETED")
    for (const { table: outer, item } of containersOf(server, table, object))
      if (item.metadata.deletionTimestamp !== undefined)
        runAfter(server, delayMs, about("contents.empty", item, { table: outer }));
};

/** Namespaces and CRDs are deleted only after their content. */
export const contents = (server: Server): Part => ({
  onChange: (change) => hearContent(server, change),
  tasks: { "contents.empty": (task) => empty(server, task) },
});
