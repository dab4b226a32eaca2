/** A request to stop that can be made more urgent, never less. */
import { setTimeout as sleep } from "node:timers/promises";

export type Stopper = {
  readonly signal: AbortSignal;
  /** On the clock of `performance.now`; endless until somebody asked. */
  readonly deadline: () => number;
  readonly stop: (graceMs: number) => void;
};

/** What a wait inside something that is being stopped ends with. */
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

/** Sleeps, or throws Stopped as soon as the signal says so. */
export const pauseFor = async (ms: number, signal: AbortSignal): Promise<void> => {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new Stopped();
  });
};

/** Resolves when the signal is given; `during` is what ends the wait otherwise. */
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
