/** A stop request whose deadline can only be moved earlier. */
import { setTimeout as sleep } from "node:timers/promises";

export type Stopper = {
  readonly signal: AbortSignal;
  /** On the clock of `performance.now`; infinite until a stop is requested. */
  readonly deadline: () => number;
  readonly stop: (graceMs: number) => void;
};

/** Thrown by a wait that a stop request ends. */
export class Stopped extends Error {}

export const stopper = (): Stopper => {
  const controller = new AbortController();
  let deadline = Number.POSITIVE_INFINITY;
  return {
    signal: controller.signal,
    deadline: () => deadline,
    stop: (graceMs) => {
      deadline = Math.min(deadline, performance.now() + graceMs);
      controller.abort(new Stopped());
    },
  };
};

/** Waits `ms`; throws Stopped when the signal aborts. */
export const pauseFor = async (ms: number, signal: AbortSignal): Promise<void> => {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new Stopped();
  });
};

/** Resolves with `during`, or with undefined when the signal aborts. */
export const eitherStops = async <End>(during: Promise<End>, signal: AbortSignal): Promise<End | undefined> => {
  if (signal.aborted) return undefined;
  const listening = new AbortController();
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { signal: listening.signal });
  });
  try {
    return await Promise.race([during, stopped]);
  } finally {
    listening.abort();
  }
};
