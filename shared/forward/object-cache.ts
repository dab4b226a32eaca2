/** The objects that a watch has received, trimmed, and the changes between two states of an object. */
import type { Stored } from "../core/object.ts";
import type { Change } from "./keys.ts";

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
};

const placeOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** Opens an empty cache. `trim` returns the parts of an object to keep. */
export const openObjectCache = (trim: (object: Stored) => Stored): ObjectCache => {
  const objects = new Map<string, Stored>();
  const seen = (object: Stored): readonly Change[] => {
    const place = placeOf(object);
    const before = objects.get(place);
    const { uid, resourceVersion } = object.metadata;
    if (before?.metadata.uid === uid && before.metadata.resourceVersion === resourceVersion) return [];
    const after = trim(object);
    objects.set(place, after);
    if (before === undefined || before.metadata.uid === uid) return [{ before, after }];
    return [
      { before, after: undefined },
      { before: undefined, after },
    ];
  };
  const gone = (object: Stored): readonly Change[] => {
    const place = placeOf(object);
    // If its successor is known already, the deletion is a change, but the successor stays.
    if (objects.get(place)?.metadata.uid === object.metadata.uid) objects.delete(place);
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
        for (const [place] of vanished) objects.delete(place);
        return vanished.map(([, before]) => ({ before, after: undefined }));
      },
    };
  };
  const has = (namespace: string, name: string): boolean => objects.has(`${namespace}/${name}`);
  const get = (namespace: string, name: string): Stored | undefined => objects.get(`${namespace}/${name}`);
  return { seen, gone, begin, has, get, size: () => objects.size, values: () => objects.values() };
};
