/**
 * The latest objects whole, as the watch has sent them, beside the forwarder's trimmed ones. Their number is bounded, so
 * an object that has not changed for long may be missing.
 */
import { forgetOldest } from "../core/cache.ts";
import type { Stored } from "../core/object.ts";

export type WholeObjects = {
  /** Takes in an object of a watch. */
  see(object: Stored): void;
  /** Takes in a deletion. */
  gone(object: Stored): void;
  /** Returns the object of which this is the trimmed form, in the same version; undefined if it is not known whole. */
  whole(trimmed: Stored): Stored | undefined;
};

const most = 1_000;

/** Returns the object without the managers of its fields, which no decision reads. */
const lean = (object: Stored): Stored => {
  const { managedFields: _, ...metadata }: Stored["metadata"] & { readonly managedFields?: unknown } = object.metadata;
  return { ...object, metadata };
};

/** Opens an empty store of the objects that `keeps` chooses. */
export const openWholeObjects = (keeps: (object: Stored) => boolean): WholeObjects => {
  const objects = new Map<string, Stored>();
  return {
    see: (object) => {
      if (!keeps(object)) return;
      objects.delete(object.metadata.uid);
      objects.set(object.metadata.uid, lean(object));
      forgetOldest(objects, most);
    },
    gone: ({ metadata: { uid } }) => void objects.delete(uid),
    whole: ({ metadata: { uid, resourceVersion } }) => {
      const object = objects.get(uid);
      return object?.metadata.resourceVersion === resourceVersion ? object : undefined;
    },
  };
};
