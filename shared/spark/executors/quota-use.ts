/**
 * The quota that Kueue has granted to a run with growths, and for which the run has waited, over time. Growths tell it only
 * while they are there, so the record adds it up: each change of the numbers ends an interval.
 */
import * as z from "zod";

const number = z.number();

/**
 * The start of the interval, epoch ms; the executors granted, base included, and those waited for in it; the executors granted
 * before it, or -1 once Events have told that twice; sums of all intervals before, executors times ms: granted, waited.
 */
export const quotaUseShape = z.tuple([number, number, number, number, number, number]);

export type QuotaUse = z.infer<typeof quotaUseShape>;

/** The use of a run that had its base alone since `at`. */
export const useOfBase = (at: number, base: number): QuotaUse => [at, base, 0, -1, 0, 0];

/** The use after a look; the same object if nothing has changed. */
export const useAfter = (use: QuotaUse, granted: number, waits: number, now: number): QuotaUse => {
  const [at, had, waited, before, grantedMs, waitedMs] = use;
  if (had === granted && waited === waits) return before < 0 ? use : [at, had, waited, -1, grantedMs, waitedMs];
  const ms = Math.max(0, now - at);
  return [now, granted, waits, had === granted ? -1 : had, grantedMs + had * ms, waitedMs + waited * ms];
};

/** The word about a change of what is granted: two steps tell it, as the first may die before its Event is written. */
export const grantWord = ([, granted, , before]: QuotaUse) => {
  const more = granted - before;
  if (before < 0 || more === 0) return undefined;
  return more > 0
    ? { reason: "GrowthGranted", message: `Kueue has granted ${more} more executors: ${granted} in all` }
    : { reason: "GrowthEnded", message: `the grant of ${-more} executors has ended: ${granted} are left` };
};
