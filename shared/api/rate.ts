/**
 * Rate limits: a token bucket per name that fills evenly, for the most recent names. In memory, one set per process or
 * environment.
 */
import { forgetOldest } from "../core/bounded-map.ts";

/** Returns how long the caller must wait, seconds; 0: go on. `cost` 0 checks without counting. */
export type Rate = (who: string, perMinute: number, cost?: 0 | 1) => number;

type Bucket = { readonly left: number; readonly at: number };

/** The most names that are kept: the most recent ones. */
const mostNames = 10_000;

/** Opens the limits. `now`: monotonic, ms. */
export const openRate = (now: () => number): Rate => {
  const buckets = new Map<string, Bucket>();
  return (who, perMinute, cost = 1) => {
    const at = now();
    const before = buckets.get(who) ?? { left: perMinute, at };
    const left = Math.min(perMinute, before.left + ((at - before.at) * perMinute) / 60_000);
    buckets.delete(who);
    buckets.set(who, { left: left < 1 ? left : left - cost, at });
    forgetOldest(buckets, mostNames);
    return left < 1 ? Math.ceil(((1 - left) * 60) / perMinute) : 0;
  };
};
