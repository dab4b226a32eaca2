/**
 * The delays of the event loop, sampled every 10 ms, but only while the loop works: at rest the samples alone would take 0.5 s of
 * processor time a minute. A loop that works for less than `workingMs` in a second delays nothing for longer.
 */
import { createHistogram, performance, type RecordableHistogram } from "node:perf_hooks";

const everyMs = 10;
const lookMs = 1_000;
const workingMs = 50;

/** Starts to take samples; returns the function that ends it. */
const sampling = (histogram: () => RecordableHistogram): (() => void) => {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    histogram().record(Math.max(1, Math.round((now - last) * 1e6)));
    last = now;
  }, everyMs).unref();
  return () => clearInterval(timer);
};

const activeMs = (): number => performance.eventLoopUtilization().active;

/**
 * Opens the samples; the timers keep no process alive. Returns a function that returns the times between two samples since its
 * last call, in nanoseconds; their count is 0 if the loop was at rest. `active`: the ms for which the loop has worked so far.
 */
export const openLoopDelays = (active = activeMs): (() => RecordableHistogram) => {
  let histogram = createHistogram();
  let before = active();
  let end: (() => void) | undefined;
  setInterval(() => {
    const after = active();
    const works = after - before >= workingMs;
    before = after;
    if (works) end ??= sampling(() => histogram);
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
