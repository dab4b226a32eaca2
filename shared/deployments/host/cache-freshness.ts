/**
 * Whether what is watched is no older than what a key's record holds. It is in doubt whenever a step goes by a record that
 * others have saved, or saves what it has read; a watch that has come to what a step made after that has passed it.
 */

import { forgetOldest } from "../../core/bounded-map.ts";
import type { Resource } from "../../core/object.ts";

/** By key, of each resource the version of the first object that was made since there was a doubt. */
export type CacheFreshness = Map<string, ReadonlyMap<string, string>>;

/** So many keys; the others are in doubt. */
const most = 2_000;

/** A resource, whatever its version. */
export const idOf = ({ group, plural }: Resource): string => `${plural}.${group}`;

export const markCurrent = (firm: CacheFreshness, key: string, resource: Resource, version: string): void => {
  const before = firm.get(key);
  if (before?.has(idOf(resource)) === true) return;
  firm.set(key, new Map([...(before ?? []), [idOf(resource), version]]));
  forgetOldest(firm, most);
};

const isNumber = (version: string): boolean => /^[1-9]\d*$/.test(version);

/** Whether a version of a resource is the other one or a later one; of what is no number nobody can tell. */
export const isFrom = (version: string, least: string): boolean | undefined => {
  if (!isNumber(version) || !isNumber(least)) return undefined;
  return version.length === least.length ? version >= least : version.length > least.length;
};

/** `reached`: the version up to which the resource is watched. */
export const isUpToDate = (
  firm: CacheFreshness,
  key: string,
  resource: Resource,
  reached: string | undefined,
): boolean => {
  const least = firm.get(key)?.get(idOf(resource));
  return least !== undefined && reached !== undefined && isFrom(reached, least) === true;
};
