/**
 * Objects that this process has created and its watch has not reached yet. The versions of one resource grow, so a
 * watch that has passed an object's version knows its newer state.
 */

import type { Resource, Stored } from "../../core/object.ts";
import { bytesOf, openShare, type Share } from "../../core/share.ts";
import { trimPod } from "../../kube/trim.ts";
import { idOf, isFrom } from "./cache-freshness.ts";

/** An object as the server answered its creation (a pod trimmed, as the watch has it), and the id of its resource. */
type One = { readonly of: string; readonly object: Stored; readonly bytes: number };

export type Made = {
  /** By resource, namespace and name, in order of creation. */
  readonly objects: Map<string, One>;
  /** The memory of all of them. */
  readonly share: Share;
};

/** The most objects that are kept, and their memory in bytes; beyond that, only the watch knows an object. */
const most = 5_000;
const mostBytes = 32 * 1_048_576;

export const openMade = (): Made => ({ objects: new Map(), share: openShare(mostBytes) });

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

export const note = (made: Made, resource: Resource, answered: Stored): void => {
  const object = answered.kind === "Pod" ? trimPod(answered) : answered;
  const { namespace = "", name } = object.metadata;
  const place = placeOf(resource, namespace, name);
  const bytes = bytesOf(object);
  drop(made, place);
  if (!made.share.take(namespace, bytes)) return;
  made.objects.set(place, { of: idOf(resource), object, bytes });
  const [oldest] = made.objects.size > most ? made.objects.keys() : [];
  if (oldest !== undefined) drop(made, oldest);
};

/**
 * Returns the objects of a resource that a watch at version `reached` cannot know yet, and drops the others of that
 * resource.
 */
export const beyond = (made: Made, resource: Resource, reached: string | undefined): readonly Stored[] => {
  const found: Stored[] = [];
  for (const [place, { of, object }] of made.objects) {
    if (of !== idOf(resource)) continue;
    if (hasPassed(reached, object.metadata.resourceVersion)) drop(made, place);
    else found.push(object);
  }
  return found;
};
