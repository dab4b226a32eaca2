/**
 * The delays of the event loop, sampled every 10 ms, but only while the loop works: at rest the samples alone would take 0.5 s of
 * processor time a minute. At rest a look every 250 ms, which costs little, records its own delay: so a block that ends a rest is
 * seen, though shown up to 250 ms shorter than it was.
 */
import { createHistogram, performance, type RecordableHistogram } from "node:perf_hooks";

const everyMs = 10;
const lookMs = 250;
const workingMs = 12;

/** The clock, and the time for which the loop has worked so far, both in ms. */
export type LoopClock = { readonly now: () => number; readonly active: () => number };

const real: LoopClock = { now: () => performance.now(), active: () => performance.eventLoopUtilization().active };

const record = (histogram: RecordableHistogram, ms: number): void =>
  histogram.record(Math.max(1, Math.round(ms * 1e6)));

/** Starts to take samples; returns the function that ends it. */
const sampling = (histogram: () => RecordableHistogram, clock: LoopClock): (() => void) => {
  let last = clock.now();
  const timer = setInterval(() => {
    const now = clock.now();
    record(histogram(), now - last);
    last = now;
  }, everyMs).unref();
  return () => clearInterval(timer);
};

/**
 * Opens the samples; the timers keep no process alive. Returns a function that returns the times between two samples since its
 * last call, in nanoseconds; their count is 0 if the loop was at rest.
 */
export const openLoopDelays = (clock = real): (() => RecordableHistogram) => {
  let histogram = createHistogram();
  let active = clock.active();
  let looked = clock.now();
  let end: (() => void) | undefined;
  setInterval(() => {
    const worked = clock.active() - active;
    const late = clock.now() - looked - lookMs;
    active += worked;
    looked = clock.now();
    if (end === undefined && late > everyMs) record(histogram, late);
    if (worked >= workingMs) end ??= sampling(() => histogram, clock);
    else {
      end?.();
      end = undefined;
    }
  }, lookMs).unref();
  return () => {
    const taken = histogram;
    histogram = createHistogram();
    return taken;
  };
};
