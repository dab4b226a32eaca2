/** Opens or loads a value with its first use, and keeps it: a function's parts as long as its environment exists. */

/** Returns a function that opens once. A failed build is tried again with the next call. */
export const once = <T>(open: () => Promise<T>): (() => Promise<T>) => {
  let opening: Promise<T> | undefined;
  return async () => {
    opening ??= open();
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
};
