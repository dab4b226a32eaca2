/**
 * The ledger of an attempt's executors: which live, which were lost and why. Its size is bounded: ids are ranges, the
 * latest losses are kept in full, and all others are counted.
 */
import * as z from "zod";
import { instant } from "../../kube/schema.ts";
import { countOfIds, hasId, idsOf, idsShape, rangesShape } from "./ids.ts";
import { losses, lossReasons } from "./losses.ts";

/** Troubles of a running run: no executor runs, the driver gives no answer, or ends no task. */
export const troubles = ["executorsGone", "driverSilent", "driverStalled"] as const;

const loss = z.object({
  id: z.number().int(),
  /** The pod's UID; only its first digits, if the pod was gone. */
  uid: z.string(),
  pod: z.string().optional(),
  reason: z.enum(lossReasons),
  node: z.string().optional(),
  exitCode: z.number().int().optional(),
  /** The platform's reason, in its own words. */
  why: z.string().max(200).optional(),
  /** End of the executor in its pod, else the time when it was missed. Epoch ms. */
  at: instant,
});

/** State of monitoring executors and their driver. Times in epoch ms. */
const care = z.object({
  /** Deletions in a row of pods that did not come up, and the newest such id: the pending timeout grows with them. */
  stuck: z.object({ times: z.number().int(), last: z.number().int() }).optional(),
  /** Time since which no executor runs. */
  goneSince: instant.optional(),
  /** State of the driver's answers. */
  pulse: z
    .object({
      at: instant,
      /** The number of ended tasks, and when it was first seen. */
      tasks: z.number(),
      movedAt: instant,
      /** No task was running. */
      idle: z.boolean().optional(),
      silentSince: instant.optional(),
      /** Running executors that the driver had given up. */
      inactive: z.array(z.number().int()).optional(),
    })
    .optional(),
  /** The trouble of the run for which an event was recorded. */
  trouble: z.object({ is: z.enum(troubles), since: instant }).optional(),
  /** The reported text about nodes that are about to go with executors that cannot be moved. */
  warned: z.string().max(500).optional(),
});

/** Every field is optional: an absent one is empty. */
export const ledgerShape = z.object({
  attempt: z.number().int(),
  /** Ids of living executors, and the first digits of their pods' UIDs in the same order. */
  live: idsShape.optional(),
  marks: z
    .string()
    .regex(/^[\da-f]*$/)
    .optional(),
  /** Ids that are accounted for. */
  over: rangesShape.optional(),
  /** The number of losses, by reason. */
  lost: z.partialRecord(z.enum(lossReasons), z.number().int()).optional(),
  /** The latest losses with events, oldest first. */
  losses: z.array(loss).optional(),
  /** Ids of losses whose events may not be recorded. */
  untold: z.array(z.number().int()).optional(),
  /** Losses that Rekindle is about to cause: the reason is saved before the pod is deleted. */
  doomed: z.array(loss).optional(),
  /** Ids of ended pods without a reason, and how often each was read. */
  unclear: z.array(z.object({ id: z.number().int(), checks: z.number().int() })).optional(),
  /** Ids of executors whose end the status may not show yet, by the state that it will show. */
  ends: z.object({ COMPLETED: idsShape.optional(), FAILED: idsShape.optional() }).optional(),
  care: care.optional(),
});

export type Ledger = z.infer<typeof ledgerShape>;
export type Loss = z.infer<typeof loss>;
export type Care = z.infer<typeof care>;

export const freshLedger = (attempt: number): Ledger => ({ attempt });

/** The number of executors known to live. */
export const livingIn = ({ live = "" }: Ledger): number => countOfIds(idsOf(live));

/** True when the id is accounted for. */
export const isOver = ({ over = "" }: Ledger, id: number): boolean => hasId(idsOf(over), id);

/** The number of losses that count against the application. */
export const countedIn = ({ lost = {} }: Ledger): number =>
  lossReasons.reduce((sum, reason) => sum + (losses[reason].counts ? (lost[reason] ?? 0) : 0), 0);

/** The ledger after the driver's end: its executors end with it, and none is missing. */
export const settled = (ledger: Ledger): Ledger => {
  const { live: _, marks: __, unclear: ___, doomed: ____, untold: _____, care: ______, ...rest } = ledger;
  return rest;
};
