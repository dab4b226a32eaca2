/** What follows from a value alone is worked out once for it, however often it is asked, and forgotten with it. */

/** The same function, for values that nobody alters. */
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

/** The same for values of any kind, of which only objects are known again. */
export const oncePerObject = <Result extends object | string>(
  work: (value: unknown) => Result,
): ((value: unknown) => Result) => {
  const ofObject = oncePer<object, Result>(work);
  return (value) => (typeof value === "object" && value !== null ? ofObject(value) : work(value));
};
