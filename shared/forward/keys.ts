/**
 * The objects that a watch has received, trimmed, and the keys that a change between two states of an object may
 * concern. The watches of the operators decide.
 */
import { dedupe, type Key, type Message } from "../core/key.ts";
import { keyKindOf, type Metadata, type Resource, type Stored } from "../core/object.ts";
import type { Patience, Watch, Watcher } from "../core/operator.ts";
import { bytesOf, type Share } from "../core/share.ts";
import { trim } from "../kube/trim.ts";
import { type LabelIndex, openLabelIndex } from "./label-index.ts";

/** A message and its deduplication id, under which the queue drops a second copy. */
export type Sending = {
  readonly message: Message;
  readonly dedupeId: string;
  readonly urgent?: true;
  /** Where a deployment lets such news wait, it does, also urgent one. */
  readonly patience?: Patience;
};

type Interest = { readonly kind: string; readonly scope: Watcher["scope"]; readonly watch: Watch };

/** One watched collection, and the watches that it serves. */
export type Subject = {
  readonly resource: Resource;
  readonly selector: string | undefined;
  readonly field: string | undefined;
  readonly interests: readonly Interest[];
  /** True if it is no error when the server does not serve the resource. */
  readonly optional: boolean;
  /** Returns the parts of an object that are kept; `before` is what was kept of its last version. */
  readonly trim: (object: Stored, before?: Stored) => Stored;
};

/** An object before and after a change; without `before` it is new, without `after` it is deleted. */
export type Change =
  | { readonly before: Stored | undefined; readonly after: Stored }
  | { readonly before: Stored; readonly after: undefined };

const sameResource = (a: Resource, b: Resource): boolean => a.group === b.group && a.plural === b.plural;

const idOf = ({ group, version, plural }: Resource, selector: string | undefined, field: string | undefined): string =>
  JSON.stringify([group, version, plural, selector ?? "", field ?? ""]);

const bothSelectors = (a: string | undefined, b: string | undefined): string | undefined =>
  [a, b].filter((part) => part !== undefined && part !== "").join(",") || undefined;

/** Returns the subjects of all operators; equal watches share one. `selector` restricts the operators' own objects. */
export const subjectsOf = (watchers: readonly Watcher[], selector?: string): readonly Subject[] => {
  const subjects = new Map<string, Subject>();
  for (const { kind, resource, scope, watches, optional: spared = false } of watchers) {
    for (const watch of watches) {
      const own = sameResource(watch.resource, resource);
      const wanted = bothSelectors(watch.selector, own && scope === undefined ? selector : undefined);
      const { field } = watch;
      const id = idOf(watch.resource, wanted, field);
      const known = subjects.get(id);
      const interests = [...(known?.interests ?? []), { kind, scope, watch }];
      const optional = spared && (own || watch.optional === true) && (known?.optional ?? true);
      const { resource: watched } = watch;
      subjects.set(id, { resource: watched, selector: wanted, field, interests, optional, trim: trimFor(interests) });
    }
  }
  return [...subjects.values()];
};

/** True if the subject is what a kind watches of the resource; without a kind: if it is all of the resource. */
export const isWatched = (
  { resource, selector, field, interests }: Subject,
  query: { readonly kind?: string | undefined; readonly resource: Resource },
): boolean => {
  if (!sameResource(resource, query.resource)) return false;
  if (query.kind === undefined) return selector === undefined && field === undefined;
  return interests.some(({ kind }) => kind === query.kind);
};

/** Returns a function that keeps the parts that any of the watches needs. */
const trimFor = (interests: Subject["interests"]): Subject["trim"] => {
  const own = interests.flatMap(({ watch }) => (watch.trim === undefined ? [] : [watch.trim]));
  const trims = own.length < interests.length ? [trim, ...own] : own;
  const [first = trim, ...others] = trims;
  return (object, before) => Object.assign(first(object, before), ...others.map((one) => one(object, before)));
};

const hinted = (key: Key, change: Change, isOwn: boolean): Message => {
  const { kind, metadata } = change.after ?? change.before;
  const what = changeIn(change);
  return {
    ...key,
    reason: `${kind} ${metadata.name} ${what}`,
    resourceVersion: metadata.resourceVersion,
    watched: true,
    ...(what === "new" && isOwn ? { fresh: true } : {}),
  };
};

/** Returns the owners before and after the change: if a child changes its owner, both must know. */
const ownersOf = (watch: Watch, { before, after }: Change): readonly string[] => {
  const names = [before, after].map((object) => (object === undefined ? undefined : watch.ownerName(object)));
  return [...new Set(names)].filter((name): name is string => name !== undefined && name !== "");
};

const changeIn = ({ before, after }: Change): "gone" | "new" | "changed" => {
  if (after === undefined) return "gone";
  return before === undefined ? "new" : "changed";
};

/**
 * Returns the messages for a change of a trimmed object; none if it concerns no key. `unsure`: an object without
 * `before` may be an old one whose earlier state is unknown.
 */
export const sendingsOf = (cluster: string, subject: Subject, change: Change, unsure = false): readonly Sending[] => {
  const { before, after } = change;
  const unknown = unsure && before === undefined;
  const { kind: child, metadata } = after ?? change.before;
  const { uid, resourceVersion, namespace = "" } = metadata;
  return subject.interests.flatMap(({ kind, scope, watch }) => {
    if (after !== undefined && !unknown && !watch.matters(before, after)) return [];
    return ownersOf(watch, change).map((name): Sending => {
      const key: Key = { cluster, kind, namespace: scope === "Cluster" ? "" : namespace, name };
      const dedupeId =
        after === undefined ? dedupe.gone(key, uid) : dedupe.watch(key, { kind: child, uid, resourceVersion });
      const message = hinted(key, change, kind === keyKindOf(subject.resource));
      const urgent = watch.urgent?.(before, after) === true ? { urgent: true as const } : {};
      const patience = unknown ? undefined : watch.patience?.(before, after);
      return { message, dedupeId, ...urgent, ...(patience === undefined ? {} : { patience }) };
    });
  });
};

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
  /** The objects whose label has this value. */
  readonly labelled: LabelIndex["find"];
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
  const index = openLabelIndex(objects);
  const drop = (place: string, object: Stored): void => {
    objects.delete(place);
    index.drop(place, object);
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
    const isKept = share === undefined || share.take(namespace, bytes);
    const kept = isKept ? after : outlineOf(after);
    objects.set(place, kept);
    index.put(place, kept);
    if (!isKept) outlines.add(namespace, 1);
    else if (share !== undefined) taken.set(place, bytes);
  };
  return {
    objects,
    drop,
    put,
    labelled: index.find,
    isWhole: (namespace: string): boolean => !outlines.has(namespace),
  };
};

/** Opens an empty cache. `trim` returns the parts of an object to keep; without a share, of any number of objects. */
export const openObjectCache = (trim: Subject["trim"], share?: Share): ObjectCache => {
  const { objects, drop, put, labelled, isWhole } = openStore(share);
  const seen = (object: Stored): readonly Change[] => {
    const place = placeOf(object);
    const before = objects.get(place);
    const { uid, resourceVersion } = object.metadata;
    if (before?.metadata.uid === uid && before.metadata.resourceVersion === resourceVersion) return [];
    const after = trim(object, before);
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
    labelled,
    isWhole,
  };
};
