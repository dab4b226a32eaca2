/** Bounds the maps of a process: of more entries than fit, the oldest is dropped. */

/** Drops the oldest entry of a map that has more than `most`; a map keeps its keys in insertion order. */
export const forgetOldest = <K>(map: Map<K, unknown>, most: number): void => {
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
};
