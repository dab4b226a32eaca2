/**
 * What a host knows without asking: its own steps' records, and its forwarder's trimmed objects. A record is given out
 * only while the object, as it is watched, says nothing that it did not say then, but for its status, which is ours.
 */

import { forgetOldest } from "../../core/bounded-map.ts";
import { same } from "../../core/json.ts";
import { type Key, textOf } from "../../core/key.ts";
import type { Ref, Resource, Stored } from "../../core/object.ts";
import type { Looking } from "../../core/query.ts";
import type { Epoch } from "../../core/time.ts";
import type { CachedStep, StepCache } from "../../engine/reads/cache.ts";
import type { Forwarder } from "../../forward/forwarder.ts";
import { labelOf } from "../../kube/pods.ts";
import { trim, wholeOf } from "../../kube/trim.ts";
import { type CacheFreshness, isUpToDate, markCurrent } from "./cache-freshness.ts";
import { beyond, type Made, note } from "./created-objects.ts";

type Known = Forwarder["known"];

type Settings = {
  /** Trimmed objects; undefined unless all are known. */
  readonly known: Known;
  readonly resourceOf: (kind: string) => Resource | undefined;
};

/** So many keys are remembered; the one that was longest without a step is forgotten first. */
const most = 2_000;

/** What users say: all but the version, which every status write changes. */
const saidIn = ({ metadata }: Stored): unknown => {
  const { resourceVersion: _, ...said } = metadata;
  return said;
};

type Listing = Extract<Looking, { do: "list" }>;

/** What lasts from step to step. */
export type CacheState = {
  /** What is remembered of each key, by its text. */
  readonly kept: Map<string, CachedStep>;
  readonly made: Made;
  readonly firm: CacheFreshness;
  /** The last that was read of the server's clock. */
  latest: Epoch | undefined;
};

export const openCacheState = (): CacheState => ({
  kept: new Map(),
  made: new Map(),
  firm: new Map(),
  latest: undefined,
});

type Looks = { readonly known: Known; readonly made: Made };

const nameOf = ({ metadata: { namespace = "", name } }: Stored): string => `${namespace}/${name}`;

/** What a field selector would find is not told by what is kept of an object. */
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

/** What was not seen to be there may be news. */
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
  const { kept, made } = mind;
  const looks = { known, made };
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
      kept.delete(id);
      return recollection !== undefined && isCurrent(key, recollection) ? recollection : undefined;
    },
    keep: (key, recollection) => {
      const { epoch } = recollection;
      if (mind.latest === undefined || epoch.at > mind.latest.at) mind.latest = epoch;
      kept.set(textOf(key), recollection);
      forgetOldest(kept, most);
    },
    invalidate: (key) => void mind.firm.delete(textOf(key)),
    appeared: (key) => {
      const watched = watchedOf(key);
      const object = watched === undefined ? undefined : wholeOf(watched);
      return object === undefined || mind.latest === undefined ? undefined : { object, epoch: mind.latest };
    },
    // What nobody watches would be remembered for ever.
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
