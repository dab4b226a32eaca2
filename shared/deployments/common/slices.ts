/** The slices in which a process runs pure work about objects of its tenants: decisions, and judgements of admission. */
import { watchedSlices } from "../../adapters/slice-watch.ts";
import { openTimeLimit } from "../../adapters/time-limit.ts";
import type { Slices } from "../../engine/ports.ts";
import { slicesOf } from "../../engine/quarantine.ts";

/** Opens slices that have a watchdog each, for processes that decide now and then. */
export const openSlices = (): Slices => slicesOf(openTimeLimit(), (begin) => void setImmediate(begin));

/** Opens the slices of a process that lasts: one thread watches them while they are many. A process opens them once. */
export const openManySlices = (): Slices => watchedSlices(openSlices());
