/** Object metadata at the door: read with its types, unknown fields dropped. */
import type { Metadata, Obj, OwnerReference } from "../core/object.ts";
import { type Fields, isFields } from "./json.ts";
import { mistyped } from "./refusal.ts";

export type Meta = Metadata & { readonly generateName?: string; readonly managedFields?: readonly unknown[] };

/** An object as a request carries it. */
export type Draft = Obj & { readonly metadata: Meta };
/** An object as the store keeps it. */
export type Item = Obj & { readonly metadata: Meta & { readonly uid: string; readonly resourceVersion: string } };

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
