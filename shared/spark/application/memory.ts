/** What a SparkApplication's steps remember of each other: what nobody could read off the objects again. */
import * as z from "zod";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import { instant } from "../../kube/instant.ts";
import { rareNames } from "../auxiliary-objects/all.ts";
import { allotment } from "../executors/allotment.ts";
import { ledgerShape } from "../executors/ledger.ts";

/** The driver of the current attempt. Its identity was handed out, and saved, before it was created. */
const driver = z.object({
  attempt: z.number().int(),
  submissionId: z.string().min(1),
  applicationId: z.string().optional(),
  podName: z.string().min(1),
  /** When the attempt was handed out, epoch ms. */
  submittedAt: instant,
  /** Set once the pod was seen: from then on its absence is a loss. */
  uid: z.string().optional(),
});

/** The phases in which nothing more than the phase itself is to be remembered. */
const plain = z.enum([
  "SUBMITTED",
  "RUNNING",
  "UNKNOWN",
  "INVALIDATING",
  "PENDING_RERUN",
  "SUSPENDING",
  "SUSPENDED",
  "RESUMING",
]);

/** Why a run failed, as a word: see driver/failure-causes.ts. */
const causes = [
  "application",
  "deleted",
  "preempted",
  "evicted",
  "node",
  "imagePull",
  "unschedulable",
  "driverStart",
  "executorStart",
  "executorsGone",
  "driverHung",
  "unreachable",
] as const;

export type Cause = (typeof causes)[number];

/** A union per phase: what is remembered of an end depends on the end. `endedAt`, `retryAt` in epoch ms. */
const state = z.discriminatedUnion("phase", [
  z.object({ phase: z.literal("") }),
  z.object({ phase: plain }),
  z.object({ phase: z.literal("SUCCEEDING"), endedAt: instant }),
  z.object({ phase: z.literal("COMPLETED"), endedAt: instant }),
  z.object({
    phase: z.enum(["FAILING", "SUBMISSION_FAILED"]),
    endedAt: instant,
    error: z.string(),
    retryAt: instant.optional(),
    cause: z.enum(causes).optional(),
  }),
  z.object({
    phase: z.literal("FAILED"),
    endedAt: instant,
    error: z.string(),
    cause: z.enum(causes).optional(),
  }),
]);

/** An event that may not have been told; see history.ts. */
const untold = z.object({
  type: z.enum(["Normal", "Warning"]),
  reason: z.string(),
  occasion: z.string(),
  message: z.string(),
});

/** A state that was entered, epoch ms. */
const passage = z.object({ phase: z.string(), attempt: z.number().int(), at: instant });

/** The version of `normalised`: a record made with another one is re-baselined, never invalidated. */
export const normaliser = 1;

const memory = z.object({
  /** `metadata.generation` that has been taken in, and the digest of its run-relevant spec. */
  generation: z.number().int(),
  spec: z.string(),
  normaliser: z.number().int(),
  /** Attempts handed out, ever; drivers are named by it, so it never goes back. */
  attempt: z.number().int(),
  /** Upstream's `submissionAttempts` and `executionAttempts`; a changed spec starts them anew. */
  submissions: z.number().int(),
  executions: z.number().int(),
  /** The newest save that planned a driver, epoch ms: the next attempt keeps its distance from it. */
  plannedAt: instant.optional(),
  driver: driver.optional(),
  /** Rare kinds of which this application may have objects. */
  rare: z.array(z.enum(rareNames)).optional(),
  /** Failures in a row, up to now. */
  failures: z.number().int().optional(),
  /** Runs that failed without their fault: they spent no retry. */
  forgiven: z.number().int().optional(),
  /** The account of the current attempt's executors. */
  executors: ledgerShape.optional(),
  /** Set by the first run with `rekindle.dev/executors: own`; about the present one if it is of its attempt. */
  allotment: allotment.optional(),
  untold: z.array(untold).optional(),
  /** Why pods did not start, as far as it was told: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
  history: z.array(passage).optional(),
  state,
});

export type Memory = z.infer<typeof memory>;
export type State = z.infer<typeof state>;
export type Phase = State["phase"];
export type Driver = z.infer<typeof driver>;
export type Untold = z.infer<typeof untold>;

/** Reads a stored memory; what does not fit is told field by field. */
export const parseMemory = readerOf("SparkApplication", memory);

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);
