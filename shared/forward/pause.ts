/** Waiting that ends early when there is nothing left to wait for. */

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

/** The promise's value, or undefined as soon as the signal is raised; `late` gets a value that came after that. */
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
