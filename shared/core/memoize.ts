/** Computes a function once per object and keeps the result as long as the object exists. */

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
