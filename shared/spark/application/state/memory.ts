/** The memory of a SparkApplication: facts that its steps cannot read off the objects again. */

import * as z from "zod";
import { digestOf, isRecord, isTooMuch } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../../core/operator.ts";
import type { Json } from "../../../kube/responses.ts";
import { instant } from "../../../kube/schema.ts";
import { rareNames } from "../../auxiliary-objects/all.ts";
import { type Allotment, allotment } from "../../executors/allotment.ts";
import { ledgerShape } from "../../executors/ledger.ts";

/** The driver of the current attempt. Its identity was handed out, and saved, before it was created. */
const driver = z.object({
  attempt: z.number().int(),
  submissionId: z.string().min(1),
  applicationId: z.string().optional(),
  podName: z.string().min(1),
  /** Time of the submission, epoch ms. */
  submittedAt: instant,
  /** Requests of the driver and of each executor: thousandths of a core, and MiB. */
  needs: z.tuple([z.int(), z.int(), z.int(), z.int()]).optional(),
  /** The places of the initial executors in the plan of the run's group, by node. */
  places: z.record(z.string(), z.int().positive()).optional(),
  /** Set once a step has seen the pod: from then on its absence is a loss. */
  uid: z.string().optional(),
  /** The pod's node and its start, for people and prices: taken in with a save that happens anyway. */
  node: z.string().optional(),
  upAt: instant.optional(),
});

/** Phases without further memory. */
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

/** Cause of a failed run: see failure-causes.ts. */
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

/** A union per phase, because the memory of an end depends on the end. `endedAt`, `retryAt` in epoch ms. */
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

/** An Event that may not have been created: a later step creates it. */
const untold = z.object({
  type: z.enum(["Normal", "Warning"]),
  reason: z.string(),
  occasion: z.string(),
  message: z.string(),
});

/** A state that was entered at `at`, epoch ms. */
const passage = z.object({ phase: z.string(), attempt: z.number().int(), at: instant });

/** The version of `relevant` (run-spec.ts): a record of another version is re-baselined, never invalidated. */
export const normaliser = 1;

const memory = z.object({
  /** The last `metadata.generation` that was taken in, and the digest of its run-relevant spec. */
  generation: z.number().int(),
  spec: z.string(),
  normaliser: z.number().int(),
  /** The number of attempts ever handed out. Drivers are named by it, so it never decreases. */
  attempt: z.number().int(),
  /** Upstream's `submissionAttempts` and `executionAttempts`; a changed spec resets them. */
  submissions: z.number().int(),
  executions: z.number().int(),
  /**
   * Time of the newest save that planned a driver, epoch ms: the next attempt keeps its distance from it. Absent once no
   * creation of the driver can arrive any more.
   */
  plannedAt: instant.optional(),
  driver: driver.optional(),
  /** Rare kinds of which this application may have objects. */
  rare: z.array(z.enum(rareNames)).optional(),
  /** Failures in a row. */
  failures: z.number().int().optional(),
  /** Failed runs that spent no retry. */
  forgiven: z.number().int().optional(),
  /** The account of the current attempt's executors. */
  executors: ledgerShape.optional(),
  /** Set by the first run with `rekindle.dev/executors: own`; it is about the present run if the attempts are equal. */
  allotment: allotment.optional(),
  untold: z.array(untold).optional(),
  /** Reasons why pods did not start that were reported: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
  history: z.array(passage).optional(),
  state,
});

export type Memory = z.infer<typeof memory>;
export type State = z.infer<typeof state>;
export type Phase = State["phase"];
export type Driver = z.infer<typeof driver>;
export type PendingEvent = z.infer<typeof untold>;

/** Parses a stored memory; errors are reported field by field. */
export const parseMemory = readerOf("SparkApplication", memory);

/** Keeps the fields of a stored memory that parse, and reports the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

/** Blanks the two fields that may change under a running application; a value of a wrong type stays. */
const free = ({ suspend, timeToLiveSeconds: left }: Json): Json => ({
  suspend: typeof suspend === "boolean" ? undefined : suspend,
  timeToLiveSeconds: Number.isSafeInteger(left) ? undefined : left,
});

const bounds = ["minExecutors", "maxExecutors", "initialExecutors"];

const unbounded = (scale: Json): Json =>
  Object.fromEntries(bounds.filter((name) => Number.isSafeInteger(scale[name])).map((name) => [name, undefined]));

/** Blanks the number of executors and its bounds. */
const scalable = ({ executor, dynamicAllocation: scale }: Json): Json => ({
  ...(isRecord(executor) && Number.isSafeInteger(executor["instances"])
    ? { executor: { ...executor, instances: undefined } }
    : {}),
  ...(isRecord(scale) ? { dynamicAllocation: { ...scale, ...unbounded(scale) } } : {}),
});

const places = ["priorityClassName", "nodeSelector", "tolerations", "affinity", "schedulerName"];

/** Blanks what upstream's webhook alone gives executors: where they may be placed. */
const unplaced = ({ executor }: Json): Json =>
  isRecord(executor)
    ? { executor: { ...executor, ...Object.fromEntries(places.map((name) => [name, undefined])) } }
    : {};

/** True when Rekindle is the allocator of the newest run. */
export const isOwnRun = ({ allotment, attempt }: Pick<Memory, "allotment" | "attempt">): boolean =>
  allotment?.attempt === attempt;

/** A run whose executors Rekindle creates: `movable`: executors that are created later may be placed elsewhere. */
export type OwnSpec = boolean | "movable";

/**
 * The digest of the spec that a run depends on. In an own run the number of executors is no part of it, and their
 * placement is none where the deployment says so.
 */
export const relevant = ({ spec }: Stored, own: OwnSpec): string => {
  if (isTooMuch(spec)) return digestOf("too deep to be read");
  if (!isRecord(spec)) return digestOf(spec ?? null);
  const scaled = own === false ? spec : { ...spec, ...scalable(spec) };
  return digestOf({ ...scaled, ...free(spec), ...(own === "movable" ? unplaced(scaled) : {}) });
};

/** The digest by which a change of only the placement is noticed, where it begins no new run. */
export const placedBy = (object: Stored, own: OwnSpec): Pick<Allotment, "placed"> =>
  own === "movable" ? { placed: relevant(object, true) } : {};
