/** CustomResourceDefinitions: the kinds that they make the server serve, and their conditions. */

import { at, fieldsAt, isFields, itemsAt, numberAt, textAt, withAt } from "./json.ts";
import { apiVersionOf, builtIn, builtInAt, builtInOf, type Column, type Kind, tableOf } from "./kinds.ts";
import type { Draft, Item } from "./metadata.ts";
import type { Store } from "./store.ts";

export const crdTable = "customresourcedefinitions.apiextensions.k8s.io";

const texts = (value: unknown, ...path: readonly string[]): readonly string[] =>
  itemsAt(value, ...path).filter((item): item is string => typeof item === "string");

const columnOf = (column: unknown): Column => ({
  name: textAt(column, "name") ?? "",
  type: textAt(column, "type") ?? "string",
  format: textAt(column, "format") ?? "",
  description: textAt(column, "description") ?? "",
  priority: numberAt(column, "priority") ?? 0,
  jsonPath: textAt(column, "jsonPath") ?? "",
});

const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

const columnsOf = (version: unknown): readonly Column[] => {
  const own = itemsAt(version, "additionalPrinterColumns").map(columnOf);
  return own.length === 0 ? [age] : own;
};

const storageVersionOf = (crd: unknown): string =>
  textAt(
    itemsAt(crd, "spec", "versions").find((version) => at(version, "storage") === true),
    "name",
  ) ?? "";

const kindOf = (crd: Item, version: unknown): Kind => {
  const spec = fieldsAt(crd, "spec");
  const kind = textAt(spec, "names", "kind") ?? "";
  const plural = textAt(spec, "names", "plural") ?? "";
  const group = textAt(spec, "group") ?? "";
  const schema = at(version, "schema", "openAPIV3Schema");
  return {
    group,
    version: textAt(version, "name") ?? "",
    plural,
    singular: textAt(spec, "names", "singular") ?? kind.toLowerCase(),
    kind,
    listKind: textAt(spec, "names", "listKind") ?? `${kind}List`,
    shortNames: texts(spec, "names", "shortNames"),
    categories: texts(spec, "names", "categories"),
    namespaced: spec["scope"] !== "Cluster",
    table: tableOf(plural, group),
    status: isFields(at(version, "subresources", "status")),
    generation: true,
    unconditional: false,
    createdByPut: false,
    returnsDeleted: false,
    custom: {
      schema: isFields(schema) ? schema : undefined,
      columns: columnsOf(version),
      storageVersion: storageVersionOf(crd),
    },
  };
};

const served = (version: unknown): boolean => at(version, "served") === true;
const cache = new WeakMap<Item, readonly Kind[]>();

/** The kinds that a definition serves, one per served version. */
export const kindsOf = (crd: Item): readonly Kind[] => {
  const known = cache.get(crd);
  if (known !== undefined) return known;
  const kinds = itemsAt(crd, "spec", "versions")
    .filter(served)
    .map((version) => kindOf(crd, version));
  cache.set(crd, kinds);
  return kinds;
};

/** The kind served at a path, built-in or custom. */
export const kindAt = (store: Store, group: string, version: string, plural: string): Kind | undefined => {
  const known = builtInAt(group, version, plural);
  if (known !== undefined || group === "") return known;
  const crd = store.get(crdTable, `${plural}.${group}`);
  return crd === undefined ? undefined : kindsOf(crd).find((kind) => kind.version === version);
};

/** Any served version of the kind that a table holds. */
export const kindOfTable = (store: Store, table: string): Kind | undefined => {
  const known = builtInOf(table);
  if (known !== undefined) return known;
  const crd = store.get(crdTable, table);
  return crd === undefined ? undefined : kindsOf(crd)[0];
};

/** Every served kind, built-in ones first. */
export const allKinds = (store: Store): readonly Kind[] => [...builtIn, ...store.list(crdTable).flatMap(kindsOf)];

const builtInNamed: ReadonlyMap<string, Kind> = new Map(
  builtIn.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]),
);

/** The kind that an ownerReference names. */
export const kindNamed = (store: Store, apiVersion: string, kind: string): Kind | undefined =>
  builtInNamed.get(`${apiVersion}/${kind}`) ??
  store
    .list(crdTable)
    .flatMap(kindsOf)
    .find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);

const condition = (type: string, reason: string, message: string, time: string) => ({
  type,
  status: "True",
  lastTransitionTime: time,
  reason,
  message,
});

/** A CRD as the server stores it: names completed and established at once. */
export const established = (crd: Draft, time: string): Draft => {
  const names = fieldsAt(crd, "spec", "names");
  const kind = textAt(names, "kind") ?? "";
  const accepted = {
    ...names,
    singular: textAt(names, "singular") ?? kind.toLowerCase(),
    listKind: textAt(names, "listKind") ?? `${kind}List`,
  };
  const conditions = [
    condition("NamesAccepted", "NoConflicts", "no conflicts found", time),
    condition("Established", "InitialNamesAccepted", "the initial names have been accepted", time),
  ];
  const spec = fieldsAt(
    withAt(
      withAt(crd, ["spec", "names"], accepted),
      ["spec", "conversion"],
      at(crd, "spec", "conversion") ?? { strategy: "None" },
    ),
    "spec",
  );
  return { ...crd, spec, status: { conditions, acceptedNames: accepted, storedVersions: [storageVersionOf(crd)] } };
};
