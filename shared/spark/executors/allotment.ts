/**
 * The memory of Rekindle as the allocator of one run's executors: the ids that it has handed out, and facts about them
 * that pods do not show. Executors that were seen are kept by id, so that one that is missing from a list is read by
 * name, and does not count as never created.
 */
import * as z from "zod";
import { instant } from "../../kube/schema.ts";
import { demandShape } from "./demand.ts";
import { grantShape } from "./grant.ts";
import { areFew, idsShape } from "./ids.ts";

/** The first id. The driver's own allocator starts at 1, and stays below this in a run that asks it for none. */
export const firstId = 1001;

/** Distance to the highest visible id when the count of ids was lost: no id is used twice. */
export const beyond = 10_000;

/** Ids handed out by one save at `at`, epoch ms: they may be on their way until the save has settled. */
const round = z.object({
  ids: idsShape,
  at: instant,
  /** The time when it has settled, epoch ms, where it is earlier than for other saves. */
  until: instant.optional(),
});

export const allotment = z.object({
  /** The run of these executors; for another run only `next` is valid. */
  attempt: z.number().int(),
  /** Prefix of its pods' names; the id completes the name. */
  prefix: z.string(),
  /** The first id that was handed out to this run. */
  first: z.number().int().optional(),
  /** The next id. It never decreases, also not from run to run. */
  next: z.number().int(),
  /** Executors that were seen and not yet seen to end. */
  alive: idsShape,
  /** Executors whose ids were handed out and that were never seen. */
  underway: z.array(round).refine((rounds) => areFew(...rounds.map(({ ids }) => ids)), "too many on their way"),
  /** The number of executors created since the current interval began, epoch ms. */
  window: z.object({ at: instant, made: z.number().int() }).optional(),
  /** The driver's REST API has answered once: its RPC listens. */
  listens: z.boolean().optional(),
  /** An executor was lost for lack of memory: later ones run one task at a time. */
  singleTask: z.boolean().optional(),
  /** The driver's demand, where executors are allocated dynamically. */
  demand: demandShape.optional(),
  /** The limit of a quota that is used up. */
  grant: grantShape.optional(),
  /** Executors in a row that ended soon after their start, and the time of the last end, epoch ms. */
  crashes: z.object({ count: z.number().int(), at: instant }).optional(),
});

export type Allotment = z.infer<typeof allotment>;

/** The time after which no creation of a round can arrive, epoch ms; by default `settledMs` after its save. */
export const settlesAt = ({ at, until }: Allotment["underway"][number], settledMs: number): number =>
  until ?? at + settledMs;

/** The allotment of a new run, which continues the ids of the run before. */
export const begun = (attempt: number, prefix: string, before: Allotment | undefined): Allotment => {
  const first = before?.next ?? firstId;
  return { attempt, prefix, first, next: first, alive: "", underway: [] };
};

/** The number of ids that the run was handed out. */
export const handedOut = ({ first = firstId, next }: Allotment): number => Math.max(0, next - first);
