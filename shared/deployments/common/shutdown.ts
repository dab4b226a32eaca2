/** Signals that stop a process. */

/** Resolves with SIGTERM or SIGINT. */
export const stopped = (): Promise<void> =>
  new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
