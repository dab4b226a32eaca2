/** Object metadata: read with its types, unknown fields dropped; and the rules of names, labels, annotations, owners and
 * finalizers, in the words of the real server. */

import type { Metadata, Obj, OwnerReference } from "../../core/object.ts";
import { type Fields, isFields } from "./json.ts";
import { type Cause, cause, mistyped } from "./refusal.ts";

export type Meta = Metadata & { readonly generateName?: string; readonly managedFields?: readonly unknown[] };

/** An object as a request carries it. */
export type Draft = Obj & { readonly metadata: Meta };
/** An object as the store keeps it. */
export type ItemMeta = Meta & { readonly uid: string; readonly resourceVersion: string };

export type Item = Obj & { readonly metadata: ItemMeta };

type Reader<T> = (value: unknown) => T | undefined;

const asText: Reader<string> = (value) => (typeof value === "string" ? value : undefined);
const asNumber: Reader<number> = (value) => (typeof value === "number" ? value : undefined);
const asFlag: Reader<boolean> = (value) => (typeof value === "boolean" ? value : undefined);

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  isFields(value) && Object.values(value).every((item) => typeof item === "string");
const asTexts: Reader<Readonly<Record<string, string>>> = (value) => (isTexts(value) ? value : undefined);

const asTextList: Reader<readonly string[]> = (value) =>
  Array.isArray(value) && value.every((item): item is string => typeof item === "string") ? value : undefined;

const asList: Reader<readonly unknown[]> = (value) => (Array.isArray(value) ? value : undefined);

/** The part of a value that has the wrong type: of a map or list, the wrong item. */
const culprit = (value: unknown): unknown => {
  const inside = Array.isArray(value) ? value : isFields(value) ? Object.values(value) : [];
  return inside.find((item) => typeof item !== "string") ?? value;
};

const take = <T>(from: Fields, key: string, reader: Reader<T>, path = "ObjectMeta.metadata"): T | undefined => {
  const value = from[key];
  if (value === undefined || value === null) return undefined;
  const read = reader(value);
  if (read === undefined) throw mistyped(culprit(value), `${path}.${key}`, "string");
  return read;
};

const ownerOf = (value: unknown): OwnerReference => {
  const path = "OwnerReference.metadata.ownerReferences";
  if (!isFields(value)) throw mistyped(value, "ObjectMeta.metadata.ownerReferences", "v1.OwnerReference");
  const controller = take(value, "controller", asFlag, path);
  const blockOwnerDeletion = take(value, "blockOwnerDeletion", asFlag, path);
  return {
    apiVersion: take(value, "apiVersion", asText, path) ?? "",
    kind: take(value, "kind", asText, path) ?? "",
    name: take(value, "name", asText, path) ?? "",
    uid: take(value, "uid", asText, path) ?? "",
    ...(controller !== undefined && { controller }),
    ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
  };
};

/** The value, unless it is empty: an empty map or list is the same as none. */
const some = <T extends object>(value: T | undefined): T | undefined =>
  value !== undefined && Object.keys(value).length > 0 ? value : undefined;

type Loose<T> = { [K in keyof T]?: T[K] | undefined };

/** Leaves out what is undefined, and puts the fields into the order in which the server writes them. */
export const metaOf = (given: Loose<Meta>): Meta => ({
  name: given.name ?? "",
  ...(given.generateName !== undefined && { generateName: given.generateName }),
  ...(given.namespace !== undefined && given.namespace !== "" && { namespace: given.namespace }),
  ...(given.uid !== undefined && { uid: given.uid }),
  ...(given.resourceVersion !== undefined && { resourceVersion: given.resourceVersion }),
  ...(given.generation !== undefined && given.generation !== 0 && { generation: given.generation }),
  ...(given.creationTimestamp !== undefined && { creationTimestamp: given.creationTimestamp }),
  ...(given.deletionTimestamp !== undefined && { deletionTimestamp: given.deletionTimestamp }),
  ...(given.deletionGracePeriodSeconds !== undefined && {
    deletionGracePeriodSeconds: given.deletionGracePeriodSeconds,
  }),
  ...(given.labels !== undefined && { labels: given.labels }),
  ...(given.annotations !== undefined && { annotations: given.annotations }),
  ...(given.ownerReferences !== undefined && { ownerReferences: given.ownerReferences }),
  ...(given.finalizers !== undefined && { finalizers: given.finalizers }),
  ...(given.managedFields !== undefined && { managedFields: given.managedFields }),
});

const readMeta = (value: unknown): Meta => {
  if (value === undefined || value === null) return { name: "" };
  if (!isFields(value)) throw mistyped(value, ".metadata", "v1.ObjectMeta");
  return metaOf({
    name: take(value, "name", asText),
    generateName: take(value, "generateName", asText),
    namespace: take(value, "namespace", asText),
    uid: take(value, "uid", asText),
    resourceVersion: take(value, "resourceVersion", asText),
    generation: take(value, "generation", asNumber),
    creationTimestamp: take(value, "creationTimestamp", asText),
    deletionTimestamp: take(value, "deletionTimestamp", asText),
    deletionGracePeriodSeconds: take(value, "deletionGracePeriodSeconds", asNumber),
    labels: some(take(value, "labels", asTexts)),
    annotations: some(take(value, "annotations", asTexts)),
    ownerReferences: some(take(value, "ownerReferences", asList)?.map(ownerOf)),
    finalizers: some(take(value, "finalizers", asTextList)),
    managedFields: some(take(value, "managedFields", asList)),
  });
};

/** A body as an object of the kind: metadata typed, the rest as it came. */
export const draftOf = (fields: Fields, apiVersion: string, kind: string): Draft => {
  const { metadata, apiVersion: _version, kind: _kind, ...rest } = fields;
  return { kind, apiVersion, metadata: readMeta(metadata), ...rest };
};

/** The owners of any object. */
export const ownersOf = (item: Item): readonly OwnerReference[] => item.metadata.ownerReferences ?? [];

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const nameRules = {
  subdomain: {
    max: 253,
    pattern: new RegExp(`^${label}(\\.${label})*$`),
    words: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${label}(\\.${label})*')`,
  },
  label: {
    max: 63,
    pattern: new RegExp(`^${label}$`),
    words: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`,
  },
  segment: { max: Number.POSITIVE_INFINITY, pattern: /^(?!\.{1,2}$)[^/%]+$/, words: "may not contain '/' or '%'" },
} as const;

const ruleOf: Readonly<Record<string, keyof typeof nameRules>> = {
  namespaces: "label",
  services: "label",
  "roles.rbac.authorization.k8s.io": "segment",
  "rolebindings.rbac.authorization.k8s.io": "segment",
  "clusterroles.rbac.authorization.k8s.io": "segment",
  "clusterrolebindings.rbac.authorization.k8s.io": "segment",
};

const nameFaults = (table: string, name: string): readonly Cause[] => {
  if (name === "") return [cause.required("metadata.name", "name or generateName is required")];
  const { max, pattern, words } = nameRules[ruleOf[table] ?? "subdomain"];
  return [
    ...(name.length > max ? [cause.invalid("metadata.name", name, `must be no more than ${max} characters`)] : []),
    ...(pattern.test(name) ? [] : [cause.invalid("metadata.name", name, words)]),
  ];
};

const part = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const qualifiedName = new RegExp(`^${part}$`);
const labelValue = new RegExp(`^(${part})?$`);
const nameWords = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${part}')`;
const valueWords =
  `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '((${part}))?')`
    .replace("((", "(")
    .replace("))?'", ")?'");

const keyFaults = (field: string, key: string): readonly Cause[] => {
  const slash = key.indexOf("/");
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  const prefixIsBad = prefix !== undefined && !nameRules.subdomain.pattern.test(prefix.toLowerCase());
  return [
    ...(prefixIsBad ? [cause.invalid(field, key, `prefix part ${nameRules.subdomain.words}`)] : []),
    ...(name === "" ? [cause.invalid(field, key, "name part must be non-empty")] : []),
    ...(name.length > 63 ? [cause.invalid(field, key, "name part must be no more than 63 bytes")] : []),
    ...(qualifiedName.test(name) ? [] : [cause.invalid(field, key, nameWords)]),
  ];
};

const valueFaults = (field: string, value: string): readonly Cause[] => [
  ...(value.length > 63 ? [cause.invalid(field, value, "must be no more than 63 bytes")] : []),
  ...(labelValue.test(value) ? [] : [cause.invalid(field, value, valueWords)]),
];

/** The faults of one term of a label selector: keys and values that no label can have. */
export const selectorFaults = (key: string, values: readonly string[]): readonly Cause[] => [
  ...keyFaults("<nil>", key),
  ...values.flatMap((value, at) => valueFaults(`values[${at}][${key}]`, value)),
];

const labelFaults = (labels: Readonly<Record<string, string>> = {}): readonly Cause[] =>
  Object.entries(labels).flatMap(([key, value]) => [
    ...keyFaults("metadata.labels", key),
    ...valueFaults("metadata.labels", value),
  ]);

const maxAnnotations = 256 * 1024;

const annotationFaults = (annotations: Readonly<Record<string, string>> = {}): readonly Cause[] => {
  const entries = Object.entries(annotations);
  const size = entries.reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(value), 0);
  return [
    ...entries.flatMap(([key]) => keyFaults("metadata.annotations", key)),
    ...(size > maxAnnotations
      ? [cause.tooLong("metadata.annotations", `may not be more than ${maxAnnotations} bytes`)]
      : []),
  ];
};

const ownerFaults = (owners: readonly OwnerReference[] = []): readonly Cause[] => {
  const controllers = owners.filter(({ controller }) => controller === true);
  const fields = ["apiVersion", "kind", "name", "uid"] as const;
  const [first, second] = controllers;
  return [
    ...owners.flatMap((owner) =>
      fields
        .filter((field) => owner[field] === "")
        .map((field) => cause.invalid(`metadata.ownerReferences.${field}`, "", `must not be empty`)),
    ),
    ...(first !== undefined && second !== undefined
      ? [
          cause.invalid(
            "metadata.ownerReferences",
            owners,
            `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`,
          ),
        ]
      : []),
  ];
};

const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

const finalizerNameFaults = (finalizers: readonly string[] = []): readonly Cause[] =>
  finalizers.flatMap((each, i) =>
    each.includes("/") || standardFinalizers.has(each)
      ? []
      : [
          cause.invalid(
            `metadata.finalizers[${i}]`,
            each,
            "name is neither a standard finalizer name nor is it fully qualified",
          ),
        ],
  );

/** All faults of the metadata of an object of a table. */
export const metaFaults = (table: string, meta: Meta): readonly Cause[] => [
  ...nameFaults(table, meta.name),
  ...labelFaults(meta.labels),
  ...annotationFaults(meta.annotations),
  ...ownerFaults(meta.ownerReferences),
  ...finalizerNameFaults(meta.finalizers),
];

/** Finalizers can be added only before the deletion. */
export const finalizerFaults = (before: Meta, after: Meta): readonly Cause[] => {
  if (before.deletionTimestamp === undefined) return [];
  const added = (after.finalizers ?? []).filter((each) => !before.finalizers?.includes(each));
  const shown = added.map((each) => `"${each}"`).join(", ");
  return added.length === 0
    ? []
    : [
        cause.forbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
        ),
      ];
};
