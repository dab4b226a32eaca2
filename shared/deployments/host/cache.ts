/**
 * The host's cache: the last records of its own steps and the trimmed objects of its forwarder. A record is returned
 * only while the watched object has the metadata that the step saw, except `resourceVersion`, which status writes
 * change.
 */

import { same } from "../../core/json.ts";
import { type Key, textOf } from "../../core/key.ts";
import type { Ref, Resource, Stored } from "../../core/object.ts";
import type { Looking } from "../../core/query.ts";
import { bytesOf, openShare, type Share } from "../../core/share.ts";
import type { Epoch } from "../../core/time.ts";
import type { CachedStep, StepCache } from "../../engine/cache.ts";
import type { Forwarder } from "../../forward/forwarder.ts";
import { labelOf } from "../../kube/pods.ts";
import { trim, wholeOf } from "../../kube/trim.ts";
import { type CacheFreshness, isUpToDate, markCurrent } from "./cache-freshness.ts";
import { beyond, type Made, note, openMade } from "./created-objects.ts";

type Known = Forwarder["known"];

type Settings = {
  /** Trimmed objects of a resource; undefined unless all of them are known. */
  readonly known: Known;
  readonly resourceOf: (kind: string) => Resource | undefined;
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
  readonly firm: CacheFreshness;
  /** The newest reading of the server's clock. */
  latest: Epoch | undefined;
};

export const openCacheState = (): CacheState => ({
  kept: new Map(),
  bytes: new Map(),
  share: openShare(mostBytes),
  made: openMade(),
  firm: new Map(),
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
  for (const object of seen.values()) if (isWanted(object)) found.push(object);
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

export const openStepCache = ({ known, resourceOf }: Settings, mind: CacheState = openCacheState()): StepCache => {
  const { kept, bytes, share, made } = mind;
  const looks = { known, made };
  const drop = (id: string): void => {
    const step = kept.get(id);
    kept.delete(id);
    if (step !== undefined) share.give(step.object.metadata.namespace ?? "", bytes.get(id) ?? 0);
    bytes.delete(id);
  };
  const watchedOf = ({ kind, namespace, name }: Key): Stored | undefined => {
    const resource = resourceOf(kind);
    return resource === undefined ? undefined : known({ kind, resource, namespace })?.get(namespace, name);
  };
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
    keep: (key, recollection) => {
      const { epoch } = recollection;
      if (mind.latest === undefined || epoch.at > mind.latest.at) mind.latest = epoch;
      const id = textOf(key);
      const size = bytesOf([recollection.object, recollection.record ?? recollection.memory]);
      drop(id);
      if (!share.take(recollection.object.metadata.namespace ?? "", size)) return;
      kept.set(id, recollection);
      bytes.set(id, size);
      const [oldest] = kept.size > most ? kept.keys() : [];
      if (oldest !== undefined) drop(oldest);
    },
    invalidate: (key) => void mind.firm.delete(textOf(key)),
    appeared: (key) => {
      const watched = watchedOf(key);
      const object = watched === undefined ? undefined : wholeOf(watched);
      return object === undefined || mind.latest === undefined ? undefined : { object, epoch: mind.latest };
    },
    // An object of an unwatched resource is not noted: no watch would ever replace it.
    made: (key, resource, object) => {
      const { namespace = "", resourceVersion } = object.metadata;
      if (known({ kind: key.kind, resource, namespace }) === undefined) return;
      note(made, resource, object);
      markCurrent(mind.firm, textOf(key), resource, resourceVersion);
    },
    look: (key, query) => {
      if (query.do === "list") return allOf(looks, key, query);
      const { resource, namespace = "" } = query.ref;
      const reached = known({ kind: key.kind, resource, namespace })?.reached();
      if (query.known === "firm" && !isUpToDate(mind.firm, textOf(key), resource, reached)) return undefined;
      return oneOf(looks, key, query.ref);
    },
  };
};
