/** The objects that a watch has seen, trimmed, and what differs when it sees them again. */
import type { Stored } from "../core/object.ts";
import type { Change } from "./keys.ts";

export type ObjectCache = {
  /** An object as it is now; nothing comes of one that is known exactly so. */
  seen(object: Stored): readonly Change[];
  /** An object that is gone. */
  gone(object: Stored): readonly Change[];
  /** Begins a full list: what it does not see until `end` is called is gone. */
  begin(): { see(object: Stored): readonly Change[]; end(): readonly Change[] };
  has(namespace: string, name: string): boolean;
  get(namespace: string, name: string): Stored | undefined;
  size(): number;
  /** All of them, as they are now. */
  values(): Iterable<Stored>;
};

const placeOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** Nothing known yet. `trim` says what is kept. */
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
    // The end of an object whose successor is known already is news, but not about the successor.
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
