/** A function's wiring: built with the first event and kept for the environment's life. */

/** A build that failed is tried again with the next event. */
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
