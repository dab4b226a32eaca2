/** Waiting that ends early when there is nothing left to wait for, and long work that lets the event loop turn. */

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

/** Long work of many small parts calls it between them: when it has held the event loop for `mostMs`, the loop turns first. */
export const openBreather = (now: () => number, mostMs = 10): (() => Promise<void>) => {
  let since = now();
  return async () => {
    if (now() - since < mostMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    since = now();
  };
};
