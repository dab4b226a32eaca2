/** Namespaces and CRDs are deleted only after their content. */
import type { Task } from "./clock.ts";
import { crdTable, kindOfTable } from "./crds.ts";
import { textAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import { about, discard, keyOfItem, later, type Part, subject } from "./part.ts";
import type { Server } from "./server.ts";
import type { Change } from "./store.ts";
import { furnishNamespace } from "./world.ts";

const delayMs = 100;

type Place = { readonly table: string; readonly item: Item };

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

const hear = (server: Server, change: Change): void => {
  const { type, table, object } = change;
  furnishNamespace(server, change);
  if (type !== "DELETED" && isContainer(table) && object.metadata.deletionTimestamp !== undefined)
    later(server, delayMs, about("contents.empty", object, { table }));
  if (type === "DELETED")
    for (const { table: outer, item } of containersOf(server, table, object))
      if (item.metadata.deletionTimestamp !== undefined)
        later(server, delayMs, about("contents.empty", item, { table: outer }));
};

export const contents = (server: Server): Part => ({
  onChange: (change) => hear(server, change),
  tasks: { "contents.empty": (task) => empty(server, task) },
});
