/**
 * What is remembered of an attempt's executors: which live, which were lost and why. Bounded however many there are: ids
 * as ranges, the latest losses whole, all others as figures.
 */
import * as z from "zod";
import { countOfIds, hasId, idsOf, idsPattern } from "./ids.ts";
import { losses, lossReasons } from "./losses.ts";

/** More than any cluster runs: a record that says so is broken. */
const mostLiving = 100_000;

const loss = z.object({
  id: z.number().int(),
  /** The pod's UID; its first digits, if the pod was gone. */
  uid: z.string(),
  pod: z.string().optional(),
  reason: z.enum(lossReasons),
  node: z.string().optional(),
  exitCode: z.number().int().optional(),
  /** What the platform said, in its own words. */
  why: z.string().max(200).optional(),
  /** When it ended, as its pod shows; else when it was missed. Epoch ms. */
  at: z.number(),
});

/** Additive: what a record does not have is empty. */
export const ledgerShape = z.object({
  attempt: z.number().int(),
  /** The next id to hand out, where Rekindle hands them out; it never goes back, over all attempts. */
  next: z.number().int().optional(),
  /** Ids of those that live, and the first digits of their pods' UIDs in the same order. */
  live: z
    .string()
    .regex(idsPattern)
    .refine((text) => countOfIds(idsOf(text)) <= mostLiving, `more than ${mostLiving} executors`)
    .optional(),
  marks: z
    .string()
    .regex(/^[\da-f]*$/)
    .optional(),
  /** Ids that are accounted for. */
  over: z.string().regex(idsPattern).optional(),
  /** How many were lost, by reason. */
  lost: z.partialRecord(z.enum(lossReasons), z.number().int()).optional(),
  /** The latest of those that are told, oldest first. */
  losses: z.array(loss).optional(),
  /** Ids of pods that ended and did not say why, and how often they were looked at. */
  unclear: z.array(z.object({ id: z.number().int(), checks: z.number().int() })).optional(),
});

export type Ledger = z.infer<typeof ledgerShape>;
export type Loss = z.infer<typeof loss>;

/** The ledger of a new attempt: nothing of the one before, but ids go on. */
export const freshLedger = (attempt: number, before?: Ledger): Ledger => ({
  attempt,
  ...(before?.next === undefined ? {} : { next: before.next }),
});

/** How many are known to live. */
export const livingIn = ({ live = "" }: Ledger): number => countOfIds(idsOf(live));

/** Ids that are accounted for. */
export const isOver = ({ over = "" }: Ledger, id: number): boolean => hasId(idsOf(over), id);

/** How many losses count against the application. */
export const countedIn = ({ lost = {} }: Ledger): number =>
  lossReasons.reduce((sum, reason) => sum + (losses[reason].counts ? (lost[reason] ?? 0) : 0), 0);

/** The executors end with their driver: nobody is missed any more. */
export const settled = (ledger: Ledger): Ledger => {
  const { live: _, marks: __, unclear: ___, ...rest } = ledger;
  return rest;
};

/** Hands out ids that nobody had: they are part of the record before they are used. `first` is where they begin. */
export const handedOut = (
  ledger: Ledger,
  count: number,
  first = 1_001,
): { readonly ledger: Ledger; readonly ids: readonly number[] } => {
  const next = ledger.next ?? first;
  return { ledger: { ...ledger, next: next + count }, ids: Array.from({ length: count }, (_, at) => next + at) };
};
