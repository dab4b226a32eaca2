/**
 * What this process has made and its watch has not come to yet: it is there all the same. The versions of one resource
 * grow, so a watch that has passed the version under which an object was made knows better what has become of it.
 */

import { forgetOldest } from "../../core/bounded-map.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { idOf, isFrom } from "./cache-freshness.ts";

/** An object as the server answered its creation, and of what resource it is. */
type One = { readonly of: string; readonly object: Stored };

/** By place; in the order in which they were made. */
export type Made = Map<string, One>;

/** So many are remembered; then the oldest is left to the watch. */
const most = 5_000;

const placeOf = (resource: Resource, namespace: string, name: string): string =>
  `${idOf(resource)} ${namespace}/${name}`;

/** What says nothing of its order is thought to be passed: then the watch is all that is known. */
const hasPassed = (reached: string | undefined, version: string): boolean =>
  reached !== undefined && (isFrom(reached, version) ?? true);

export const note = (made: Made, resource: Resource, object: Stored): void => {
  const { namespace = "", name } = object.metadata;
  const place = placeOf(resource, namespace, name);
  made.delete(place);
  made.set(place, { of: idOf(resource), object });
  forgetOldest(made, most);
};

/** All of a resource that a watch which has come to `reached` cannot know of; what it may know of is forgotten. */
export const beyond = (made: Made, resource: Resource, reached: string | undefined): readonly Stored[] => {
  const found: Stored[] = [];
  for (const [place, { of, object }] of made) {
    if (of !== idOf(resource)) continue;
    if (hasPassed(reached, object.metadata.resourceVersion)) made.delete(place);
    else found.push(object);
  }
  return found;
};
