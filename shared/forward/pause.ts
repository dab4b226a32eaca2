/** Waits that a signal ends early, work that is done again and again, and long work that yields to the event loop. */

export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after `ms`, or at once when the signal is raised. */
export const pause: Pause = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });

/**
 * Returns the promise's value, or undefined as soon as the signal is raised; a value that comes later goes to `late`.
 */
export const unlessAborted = <T>(
  promise: Promise<T>,
  signal: AbortSignal,
  late: (value: T) => void = () => {},
): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const leave = (): void => resolve(undefined);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    promise
      .then((value) => (signal.aborted ? late(value) : resolve(value)), reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });

/**
 * Does `work` after `firstMs`, or at once, and again the ms after its end that it returns; it never rejects. The returned
 * function begins no other round, and resolves when the one in flight has ended.
 */
export const startRounds = (work: () => Promise<number>, firstMs?: number): (() => Promise<void>) => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const go = (): void => {
    running = work().then((waitMs) => {
      if (!stopped) timer = setTimeout(go, waitMs);
    });
  };
  if (firstMs === undefined) go();
  else timer = setTimeout(go, firstMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
};

/**
 * Returns a function to call between parts of long work: it yields when the work has held the event loop for `mostMs`.
 */
export const openBreather = (now: () => number, mostMs = 10): (() => Promise<void>) => {
  let since = now();
  return async () => {
    if (now() - since < mostMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    since = now();
  };
};
