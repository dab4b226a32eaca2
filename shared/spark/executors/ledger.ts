/**
 * What is remembered of an attempt's executors: which live, which were lost and why. Bounded however many there are: ids
 * as ranges, the latest losses whole, all others as figures.
 */
import * as z from "zod";
import { instant } from "../../kube/instant.ts";
import { countOfIds, hasId, idsOf, idsShape, rangesShape } from "./ids.ts";
import { losses, lossReasons } from "./losses.ts";

/** What may be wrong with a run that goes on: no executor runs, the driver says nothing, or ends no task. */
export const troubles = ["executorsGone", "driverSilent", "driverStalled"] as const;

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
  at: instant,
});

/** What is remembered of looking after executors and their driver. Times in epoch ms. */
const care = z.object({
  /** How often in a row pods had to be deleted that did not come up, and the newest of them: each time they get longer. */
  stuck: z.object({ times: z.number().int(), last: z.number().int() }).optional(),
  /** Since when none of the executors runs. */
  goneSince: instant.optional(),
  /** The driver's word, asked now and then. */
  pulse: z
    .object({
      at: instant,
      /** Tasks that had ended, and when they were first so many. */
      tasks: z.number(),
      movedAt: instant,
      /** No task was running. */
      idle: z.boolean().optional(),
      silentSince: instant.optional(),
      /** Executors that run and that it had given up. */
      inactive: z.array(z.number().int()).optional(),
    })
    .optional(),
  /** What is wrong with the run, and was told. */
  trouble: z.object({ is: z.enum(troubles), since: instant }).optional(),
  /** What was told of nodes that are about to go with what cannot be moved. */
  warned: z.string().max(500).optional(),
});

/** Additive: what a record does not have is empty. */
export const ledgerShape = z.object({
  attempt: z.number().int(),
  /** Ids of those that live, and the first digits of their pods' UIDs in the same order. */
  live: idsShape.optional(),
  marks: z
    .string()
    .regex(/^[\da-f]*$/)
    .optional(),
  /** Ids that are accounted for. */
  over: rangesShape.optional(),
  /** How many were lost, by reason. */
  lost: z.partialRecord(z.enum(lossReasons), z.number().int()).optional(),
  /** The latest of those that are told, oldest first. */
  losses: z.array(loss).optional(),
  /** Ids of those that may not have been told. */
  untold: z.array(z.number().int()).optional(),
  /** Losses that Rekindle is about to bring about: what ends a pod is known before it does. */
  doomed: z.array(loss).optional(),
  /** Ids of pods that ended and did not say why, and how often they were looked at. */
  unclear: z.array(z.object({ id: z.number().int(), checks: z.number().int() })).optional(),
  /** Ids of those whose end the status may not show yet, by the state that it is to show. */
  ends: z.object({ COMPLETED: idsShape.optional(), FAILED: idsShape.optional() }).optional(),
  care: care.optional(),
});

export type Ledger = z.infer<typeof ledgerShape>;
export type Loss = z.infer<typeof loss>;
export type Care = z.infer<typeof care>;

export const freshLedger = (attempt: number): Ledger => ({ attempt });

/** How many are known to live. */
export const livingIn = ({ live = "" }: Ledger): number => countOfIds(idsOf(live));

/** Ids that are accounted for. */
export const isOver = ({ over = "" }: Ledger, id: number): boolean => hasId(idsOf(over), id);

/** How many losses count against the application. */
export const countedIn = ({ lost = {} }: Ledger): number =>
  lossReasons.reduce((sum, reason) => sum + (losses[reason].counts ? (lost[reason] ?? 0) : 0), 0);

/** The executors end with their driver: nobody is missed any more. */
export const settled = (ledger: Ledger): Ledger => {
  const { live: _, marks: __, unclear: ___, doomed: ____, untold: _____, care: ______, ...rest } = ledger;
  return rest;
};
