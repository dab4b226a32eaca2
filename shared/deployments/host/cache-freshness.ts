/**
 * Tells whether the watch cache is at least as new as a key's record. The cache is in doubt when a step uses a record
 * that another process saved, or saves what it has read. The doubt ends when the watch reaches the version of an object
 * that a step of the key created afterwards.
 */

import { forgetOldest } from "../../core/bounded-map.ts";
import type { Resource } from "../../core/object.ts";

/** By key: for each resource, the version of the first object that was created since the last doubt. */
export type CacheFreshness = Map<string, ReadonlyMap<string, string>>;

/** The most keys that are tracked; the cache is in doubt for all others. */
const most = 2_000;

/** Returns the id of a resource without its API version. */
export const idOf = ({ group, plural }: Resource): string => `${plural}.${group}`;

export const markCurrent = (firm: CacheFreshness, key: string, resource: Resource, version: string): void => {
  const before = firm.get(key);
  if (before?.has(idOf(resource)) === true) return;
  firm.set(key, new Map([...(before ?? []), [idOf(resource), version]]));
  forgetOldest(firm, most);
};

const isNumber = (version: string): boolean => /^[1-9]\d*$/.test(version);

/** Returns whether `version` is `least` or later; undefined where either is not a number. */
export const isFrom = (version: string, least: string): boolean | undefined => {
  if (!isNumber(version) || !isNumber(least)) return undefined;
  return version.length === least.length ? version >= least : version.length > least.length;
};

/** Returns whether the cache is current. `reached`: the version up to which the resource is watched. */
export const isUpToDate = (
  firm: CacheFreshness,
  key: string,
  resource: Resource,
  reached: string | undefined,
): boolean => {
  const least = firm.get(key)?.get(idOf(resource));
  return least !== undefined && reached !== undefined && isFrom(reached, least) === true;
};
