/**
 * The host's cache: the last records of its own steps, the trimmed objects of its forwarder, and objects that it has
 * created and its watch has not reached yet. A record is returned only while the watched object has the metadata that
 * the step saw, except `resourceVersion`. The cache of a key is in doubt when a step uses a record that another
 * process saved; the doubt ends when the watch reaches an object that a step of the key created afterwards.
 */
import { forgetOldest } from "../../core/cache.ts";
import { same } from "../../core/json.ts";
import { type Key, textOf } from "../../core/key.ts";
import type { Ref, Resource, Stored } from "../../core/object.ts";
import type { Looking } from "../../core/plan.ts";
import { bytesOf, openShare, type Share } from "../../core/share.ts";
import type { Epoch } from "../../core/time.ts";
import type { CachedStep, StepCache } from "../../engine/context/world.ts";
import type { Forwarder } from "../../forward/forwarder.ts";
import { labelOf } from "../../kube/pods.ts";
import { trim, trimPod, wholeOf } from "../../kube/trim.ts";

/** By key: for each resource, the version of the first object that was created since the last doubt. */
export type CacheFreshness = Map<string, ReadonlyMap<string, string>>;

/** Returns the id of a resource without its API version. */
const idOf = ({ group, plural }: Resource): string => `${plural}.${group}`;

export const markCurrent = (current: CacheFreshness, key: string, resource: Resource, version: string): void => {
  const before = current.get(key);
  if (before?.has(idOf(resource)) === true) return;
  current.set(key, new Map([...(before ?? []), [idOf(resource), version]]));
  forgetOldest(current, most);
};

const isNumber = (version: string): boolean => /^[1-9]\d*$/.test(version);

/** Returns whether `version` is `least` or later; undefined where either is not a number. */
const isFrom = (version: string, least: string): boolean | undefined => {
  if (!isNumber(version) || !isNumber(least)) return undefined;
  return version.length === least.length ? version >= least : version.length > least.length;
};

/** Returns whether the cache is current. `reached`: the version up to which the resource is watched. */
export const isUpToDate = (
  current: CacheFreshness,
  key: string,
  resource: Resource,
  reached: string | undefined,
): boolean => {
  const least = current.get(key)?.get(idOf(resource));
  return least !== undefined && reached !== undefined && isFrom(reached, least) === true;
};

/** An object as the server answered its creation (a pod trimmed, as the watch has it), and the id of its resource. */
type One = { readonly of: string; readonly object: Stored; readonly bytes: number };

type Made = {
  /** By resource, namespace and name, in order of creation. */
  readonly objects: Map<string, One>;
  /** The memory of all of them. */
  readonly share: Share;
};

/** The most objects that are kept, and their memory in bytes; beyond that, only the watch knows an object. */
const mostCreated = 5_000;
const mostBytesCreated = 32 * 1_048_576;

const openMade = (): Made => ({ objects: new Map(), share: openShare(mostBytesCreated) });

const drop = ({ objects, share }: Made, place: string): void => {
  const one = objects.get(place);
  if (one === undefined) return;
  objects.delete(place);
  share.give(one.object.metadata.namespace ?? "", one.bytes);
};

const placeOf = (resource: Resource, namespace: string, name: string): string =>
  `${idOf(resource)} ${namespace}/${name}`;

/**
 * Returns whether the watch has passed a version. A version that is not a number counts as passed: then only the watch
 * is used.
 */
const hasPassed = (reached: string | undefined, version: string): boolean =>
  reached !== undefined && (isFrom(reached, version) ?? true);

const note = (made: Made, resource: Resource, answered: Stored): void => {
  const object = answered.kind === "Pod" ? trimPod(answered) : answered;
  const { namespace = "", name } = object.metadata;
  const place = placeOf(resource, namespace, name);
  const bytes = bytesOf(object);
  drop(made, place);
  if (!made.share.take(namespace, bytes)) return;
  made.objects.set(place, { of: idOf(resource), object, bytes });
  const [oldest] = made.objects.size > mostCreated ? made.objects.keys() : [];
  if (oldest !== undefined) drop(made, oldest);
};

/**
 * Returns the objects of a resource that a watch at version `reached` cannot know yet, and drops the others of that
 * resource.
 */
const beyond = (made: Made, resource: Resource, reached: string | undefined): readonly Stored[] => {
  const found: Stored[] = [];
  const id = idOf(resource);
  for (const [place, { of, object }] of made.objects) {
    if (of !== id) continue;
    if (hasPassed(reached, object.metadata.resourceVersion)) drop(made, place);
    else found.push(object);
  }
  return found;
};

type Known = Forwarder["known"];

type Settings = {
  /** Trimmed objects of a resource; undefined unless all of them are known. */
  readonly known: Known;
  readonly resourceOf: (kind: string) => Resource | undefined;
  /** Returns the latest reading of the server's clock that any read of the process has brought; absent: none is known. */
  readonly serverTime?: () => Epoch | undefined;
};

/** The most keys that are cached; the key with the oldest step is dropped first. */
const most = 2_000;
/** The memory of all cached steps, bytes: a tenant's objects have up to 1.5 MB each. */
const mostBytes = 64 * 1_048_576;

/** Returns the metadata without `resourceVersion`, which every status write changes. */
const saidIn = ({ metadata }: Stored): unknown => {
  const { resourceVersion: _, ...said } = metadata;
  return said;
};

type Listing = Extract<Looking, { do: "list" }>;

/** The state of the cache between steps. */
export type CacheState = {
  /** The last step of each key, by the key's text. */
  readonly kept: Map<string, CachedStep>;
  /** The memory of each of them, taken from its namespace's share. */
  readonly bytes: Map<string, number>;
  readonly share: Share;
  readonly made: Made;
  readonly current: CacheFreshness;
  /** The newest reading of the server's clock among those of kept steps. */
  latest: Epoch | undefined;
};

export const openCacheState = (): CacheState => ({
  kept: new Map(),
  bytes: new Map(),
  share: openShare(mostBytes),
  made: openMade(),
  current: new Map(),
  latest: undefined,
});

type Looks = { readonly known: Known; readonly made: Made };

const nameOf = ({ metadata: { namespace = "", name } }: Stored): string => `${namespace}/${name}`;

/**
 * Lists watched objects and those just created. Undefined where not all are watched, and for a field selector, because
 * trimmed objects do not hold every field.
 */
const allOf = ({ known, made }: Looks, { kind }: Key, query: Listing): readonly Stored[] | undefined => {
  const { resource, namespace, labels } = query;
  const seen = query.field === undefined ? known({ kind, resource, namespace }) : undefined;
  if (seen === undefined) return undefined;
  const wanted = Object.entries(labels);
  const isWanted = (object: Stored): boolean =>
    wanted.every(([name, value]) => labelOf(object, name) === value) &&
    (namespace === "" || object.metadata.namespace === namespace);
  const found: Stored[] = [];
  const [label] = wanted;
  const nearby = label === undefined ? seen.values() : seen.labelled(...label);
  for (const object of nearby) if (isWanted(object)) found.push(object);
  const own = beyond(made, resource, seen.reached()).filter(isWanted);
  if (own.length === 0) return found;
  const places = new Set(own.map(nameOf));
  return [...found.filter((object) => !places.has(nameOf(object))), ...own];
};

/** Finds one object. Undefined where the watch has not seen it: it may be newer than the watch. */
const oneOf = (
  { known, made }: Looks,
  { kind }: Key,
  { resource, namespace = "", name }: Ref,
): readonly Stored[] | undefined => {
  const seen = known({ kind, resource, namespace }) ?? known({ resource, namespace });
  if (seen === undefined) return undefined;
  const own = beyond(made, resource, seen.reached()).find((object) => nameOf(object) === `${namespace}/${name}`);
  const found = own ?? seen.get(namespace, name);
  return found === undefined ? undefined : [found];
};

const dropStep = ({ kept, bytes, share }: CacheState, id: string): void => {
  const step = kept.get(id);
  kept.delete(id);
  if (step !== undefined) share.give(step.object.metadata.namespace ?? "", bytes.get(id) ?? 0);
  bytes.delete(id);
};

const newer = (one: Epoch | undefined, other: Epoch | undefined): Epoch | undefined =>
  one === undefined || (other !== undefined && other.at > one.at) ? other : one;

export const openStepCache = (
  { known, resourceOf, serverTime }: Settings,
  mind: CacheState = openCacheState(),
): StepCache => {
  const { kept, bytes, share, made } = mind;
  const looks = { known, made };
  const drop = (id: string): void => dropStep(mind, id);
  const watchedOf = ({ kind, namespace, name }: Key): Stored | undefined => {
    const resource = resourceOf(kind);
    return resource === undefined ? undefined : known({ kind, resource, namespace })?.get(namespace, name);
  };
  const latest = (): Epoch | undefined => newer(mind.latest, serverTime?.());
  const isCurrent = (key: Key, { object }: CachedStep): boolean => {
    const watched = watchedOf(key);
    return watched !== undefined && same(saidIn(watched), saidIn(trim(object)));
  };
  return {
    take: (key) => {
      const id = textOf(key);
      const recollection = kept.get(id);
      drop(id);
      return recollection !== undefined && isCurrent(key, recollection) ? recollection : undefined;
    },
    changed: (key) => {
      const step = kept.get(textOf(key));
      const watched = watchedOf(key);
      if (step === undefined || watched?.metadata.uid !== step.object.metadata.uid || isCurrent(key, step))
        return undefined;
      return { step, object: wholeOf(watched), epoch: latest() ?? step.epoch };
    },
    keep: (key, recollection) => {
      const { epoch } = recollection;
      mind.latest = newer(mind.latest, epoch);
      const id = textOf(key);
      const size = bytesOf([recollection.object, recollection.record ?? recollection.memory]);
      drop(id);
      if (!share.take(recollection.object.metadata.namespace ?? "", size)) return;
      kept.set(id, recollection);
      bytes.set(id, size);
      const [oldest] = kept.size > most ? kept.keys() : [];
      if (oldest !== undefined) drop(oldest);
    },
    invalidate: (key) => void mind.current.delete(textOf(key)),
    appeared: (key) => {
      const watched = watchedOf(key);
      const object = watched === undefined ? undefined : wholeOf(watched);
      const epoch = latest();
      return object === undefined || epoch === undefined ? undefined : { object, epoch };
    },
    // An object of an unwatched resource is not noted: no watch would ever replace it.
    made: (key, resource, object) => {
      const { namespace = "", resourceVersion } = object.metadata;
      if (known({ kind: key.kind, resource, namespace }) === undefined) return;
      note(made, resource, object);
      markCurrent(mind.current, textOf(key), resource, resourceVersion);
    },
    look: (key, query, least) => {
      const { resource, namespace = "" } = query.do === "list" ? query : query.ref;
      const reached = known({ kind: key.kind, resource, namespace })?.reached();
      if (least === "current" && !isUpToDate(mind.current, textOf(key), resource, reached)) return undefined;
      return query.do === "list" ? allOf(looks, key, query) : oneOf(looks, key, query.ref);
    },
  };
};
