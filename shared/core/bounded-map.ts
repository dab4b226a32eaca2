/** What a process remembers is bounded: of more than fit, the oldest goes. */

/** Drops the oldest entry of a map that has grown beyond `most`; a map keeps the order in which its keys came. */
export const forgetOldest = <K>(map: Map<K, unknown>, most: number): void => {
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
};
