/**
 * Caches of a process: the result of a function per object as long as the object exists, and maps whose oldest entry
 * is dropped when they are full.
 */

/** Memoizes a function of objects that are never modified. */
export const oncePer = <Value extends object, Result extends object | string>(
  work: (value: Value) => Result,
): ((value: Value) => Result) => {
  const known = new WeakMap<Value, Result>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const result = work(value);
    known.set(value, result);
    return result;
  };
};

/** Memoizes a function of any values; only the results for objects are kept. */
export const oncePerObject = <Result extends object | string>(
  work: (value: unknown) => Result,
): ((value: unknown) => Result) => {
  const ofObject = oncePer<object, Result>(work);
  return (value) => (typeof value === "object" && value !== null ? ofObject(value) : work(value));
};

/** Drops the oldest entry of a map that has more than `most`; a map keeps its keys in insertion order. */
export const forgetOldest = <K>(map: Map<K, unknown>, most: number): void => {
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
};
