/**
 * Objects that this process has created and its watch has not reached yet. The versions of one resource grow, so a
 * watch that has passed an object's version knows its newer state.
 */

import { forgetOldest } from "../../core/bounded-map.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { idOf, isFrom } from "./cache-freshness.ts";

/** An object as the server answered its creation, and the id of its resource. */
type One = { readonly of: string; readonly object: Stored };

/** By resource, namespace and name, in order of creation. */
export type Made = Map<string, One>;

/** The most objects that are kept; beyond that, only the watch knows the oldest. */
const most = 5_000;

const placeOf = (resource: Resource, namespace: string, name: string): string =>
  `${idOf(resource)} ${namespace}/${name}`;

/**
 * Returns whether the watch has passed a version. A version that is not a number counts as passed: then only the watch
 * is used.
 */
const hasPassed = (reached: string | undefined, version: string): boolean =>
  reached !== undefined && (isFrom(reached, version) ?? true);

export const note = (made: Made, resource: Resource, object: Stored): void => {
  const { namespace = "", name } = object.metadata;
  const place = placeOf(resource, namespace, name);
  made.delete(place);
  made.set(place, { of: idOf(resource), object });
  forgetOldest(made, most);
};

/**
 * Returns the objects of a resource that a watch at version `reached` cannot know yet, and drops the others of that
 * resource.
 */
export const beyond = (made: Made, resource: Resource, reached: string | undefined): readonly Stored[] => {
  const found: Stored[] = [];
  for (const [place, { of, object }] of made) {
    if (of !== idOf(resource)) continue;
    if (hasPassed(reached, object.metadata.resourceVersion)) made.delete(place);
    else found.push(object);
  }
  return found;
};
