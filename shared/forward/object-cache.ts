/**
 * The objects that a watch has received, trimmed, and the changes between two states of an object. Tenants write the
 * objects: a namespace that has more of them than its share of the memory keeps outlines of the others, and its steps
 * read live.
 */
import type { Metadata, Stored } from "../core/object.ts";
import { bytesOf, type Share } from "../core/share.ts";
import type { Change } from "./keys.ts";

export type ObjectCache = {
  /** Takes in an object. Returns no change if this version of it is known. */
  seen(object: Stored): readonly Change[];
  /** Takes in a deletion. */
  gone(object: Stored): readonly Change[];
  /** Begins a full list: objects that are not passed to `see` until `end` are deleted. */
  begin(): { see(object: Stored): readonly Change[]; end(): readonly Change[] };
  has(namespace: string, name: string): boolean;
  get(namespace: string, name: string): Stored | undefined;
  size(): number;
  /** All objects. */
  values(): Iterable<Stored>;
  /** True if no object of the namespace ("": of any) is an outline. */
  isWhole(namespace: string): boolean;
};

/** A quarter of the heap that a process has with the memory of the manifests, bytes. */
export const usualCacheBytes = 112 * 1_048_576;

const namespaceOf = ({ metadata }: Stored): string => metadata.namespace ?? "";

const placeOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** The most owners, and the most characters of labels, of an outline: enough to find the key that it belongs to. */
const mostOwners = 8;
const mostLabelText = 2_000;

const shortLabels = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  let left = mostLabelText;
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => {
      left -= key.length + value.length;
      return left >= 0;
    }),
  );
};

/** Keeps identity, deletion, owners and labels. */
const outlineOf = ({ apiVersion, kind, metadata }: Stored): Stored => {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp, labels, ownerReferences } = metadata;
  const optional: Partial<Metadata> = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(generation === undefined ? {} : { generation }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(labels === undefined ? {} : { labels: shortLabels(labels) }),
    ...(ownerReferences === undefined ? {} : { ownerReferences: ownerReferences.slice(0, mostOwners) }),
  };
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, ...optional } };
};

/** Counts the outlines of each namespace. */
const openOutlines = () => {
  const counts = new Map<string, number>();
  return {
    add: (namespace: string, more: 1 | -1): void => {
      const count = (counts.get(namespace) ?? 0) + more;
      if (count > 0) counts.set(namespace, count);
      else counts.delete(namespace);
    },
    has: (namespace: string): boolean => (namespace === "" ? counts.size > 0 : counts.has(namespace)),
  };
};

/** Keeps objects by their place: whole, or as outlines where the share of their namespace has no room. */
const openStore = (share: Share | undefined) => {
  const objects = new Map<string, Stored>();
  /** The memory taken for each object that is kept whole, bytes. */
  const taken = new Map<string, number>();
  const outlines = openOutlines();
  const drop = (place: string, object: Stored): void => {
    objects.delete(place);
    if (share === undefined) return;
    const bytes = taken.get(place);
    if (bytes === undefined) outlines.add(namespaceOf(object), -1);
    else share.give(namespaceOf(object), bytes);
    taken.delete(place);
  };
  const put = (place: string, before: Stored | undefined, after: Stored): void => {
    if (before !== undefined) drop(place, before);
    const namespace = namespaceOf(after);
    const bytes = share === undefined ? 0 : bytesOf(after);
    if (share === undefined || share.take(namespace, bytes)) {
      objects.set(place, after);
      if (share !== undefined) taken.set(place, bytes);
      return;
    }
    objects.set(place, outlineOf(after));
    outlines.add(namespace, 1);
  };
  return { objects, drop, put, isWhole: (namespace: string): boolean => !outlines.has(namespace) };
};

/** Opens an empty cache. `trim` returns the parts of an object to keep; without a share, of any number of objects. */
export const openObjectCache = (trim: (object: Stored) => Stored, share?: Share): ObjectCache => {
  const { objects, drop, put, isWhole } = openStore(share);
  const seen = (object: Stored): readonly Change[] => {
    const place = placeOf(object);
    const before = objects.get(place);
    const { uid, resourceVersion } = object.metadata;
    if (before?.metadata.uid === uid && before.metadata.resourceVersion === resourceVersion) return [];
    const after = trim(object);
    put(place, before, after);
    if (before === undefined || before.metadata.uid === uid) return [{ before, after }];
    return [
      { before, after: undefined },
      { before: undefined, after },
    ];
  };
  const gone = (object: Stored): readonly Change[] => {
    const place = placeOf(object);
    const known = objects.get(place);
    // If its successor is known already, the deletion is a change, but the successor stays.
    if (known?.metadata.uid === object.metadata.uid) drop(place, known);
    return [{ before: trim(object), after: undefined }];
  };
  const begin = (): ReturnType<ObjectCache["begin"]> => {
    const places = new Set<string>();
    return {
      see: (object) => {
        places.add(placeOf(object));
        return seen(object);
      },
      end: () => {
        const vanished = [...objects].filter(([place]) => !places.has(place));
        for (const [place, object] of vanished) drop(place, object);
        return vanished.map(([, before]) => ({ before, after: undefined }));
      },
    };
  };
  return {
    ...{ seen, gone, begin },
    has: (namespace, name) => objects.has(`${namespace}/${name}`),
    get: (namespace, name) => objects.get(`${namespace}/${name}`),
    size: () => objects.size,
    values: () => objects.values(),
    isWhole,
  };
};
