/** Places for work that may run at a time; what finds none free waits, in its order. */

export type Places = {
  /** Resolves when the caller has a place. */
  take(): Promise<void>;
  /** Gives a place to the work that has waited longest. */
  give(): void;
  /** Runs work that holds a place until it settles. */
  within<T>(work: () => Promise<T>): Promise<T>;
  /** True while no place is taken. */
  isUnused(): boolean;
};

/** `room`: the number of places, at least 1. */
export const openPlaces = (room: number): Places => {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const take = (): Promise<void> => {
    taken += 1;
    return taken <= room ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
  };
  const give = (): void => {
    taken -= 1;
    waiting.shift()?.();
  };
  return {
    take,
    give,
    within: async (work) => {
      await take();
      try {
        return await work();
      } finally {
        give();
      }
    },
    isUnused: () => taken === 0,
  };
};
