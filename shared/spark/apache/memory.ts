/**
 * The memory of Apache's SparkApplication: the record of its states in the form of its status, when an attempt was last
 * submitted, and how the pods of the attempt are found. Pure.
 */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import { instant } from "../../kube/schema.ts";
import { allotment } from "../executors/allotment.ts";
import { ledgerShape } from "../executors/ledger.ts";
import { recordedState } from "./status/history.ts";
import { type ApplicationRecord, recordIn, statusOf } from "./status/record.ts";
import { isSummary } from "./status/summary.ts";

const count = z.int().nonnegative();

const state = recordedState(isSummary);

const history = z.record(z.string(), state);

const attempt = z.object({
  ...{ id: count, restartCounter: count },
  ...{ failureRestartCounter: count, schedulingFailureRestartCounter: count },
});

const status = z
  .object({
    currentState: state,
    stateTransitionHistory: history,
    currentAttemptSummary: z.object({ attemptInfo: attempt }),
    previousAttemptSummary: z.object({ attemptInfo: attempt, stateTransitionHistory: history.optional() }).optional(),
  })
  .refine((given) => recordIn(given) !== undefined, "it shows no state");

const memory = z.object({
  /** The whole status: a status that others wrote changes no decision. */
  status,
  /** When the objects of an attempt were last planned, epoch ms: their creations may arrive for some time. */
  plannedAt: instant.optional(),
  run: z
    .object({
      attempt: z.number().int(),
      applicationId: z.string(),
      /** The name of the driver's main container. */
      main: z.string(),
      /** The name of the driver's pod; absent: that of its application id. */
      driverName: z.string().optional(),
      /** UID of the driver's pod, once it was seen: its executors are found by it when it is gone. */
      driverUid: z.string().optional(),
      /** The digest of what Rekindle's own executors of the attempt are built from: see `builtFrom`. */
      builtFrom: z.string().optional(),
      /** The LocalQueue in which Kueue has admitted the attempt; absent: it began without Kueue. */
      queue: z.string().optional(),
      /** Places of its initial executors, counts by node; absent: it did not start as a group. */
      places: z.record(z.string(), count).optional(),
      /** When a step first saw an executor of Rekindle's own, epoch ms. */
      executorsAt: instant.optional(),
    })
    .optional(),
  /** The attempt whose PodGroup is there; absent: none is. */
  grouped: z.int().optional(),
  /** The executors of the attempt, as they were created and lost. */
  executors: ledgerShape.optional(),
  /** Set by the first attempt whose executors Rekindle creates; of another attempt than the present one only the ids hold. */
  allotment: allotment.optional(),
});

export type Memory = z.infer<typeof memory>;

export type Run = NonNullable<Memory["run"]>;

export const parseMemory = readerOf("SparkApplication of spark.apache.org", memory);

/** Keeps the fields of a stored memory that parse, and reports the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

/** The record that the memory keeps, or that an earlier controller left in the status; undefined for a new application. */
export const recordOf = (kept: Memory | undefined, status: unknown): ApplicationRecord | undefined =>
  recordIn(kept?.status ?? status);

export const remembering = (kept: Memory | undefined, record: ApplicationRecord): Memory => ({
  ...kept,
  status: statusOf(record),
});
