/**
 * What Rekindle remembers as the allocator of one run's executors: the ids it has handed out, and what became of them
 * as far as nobody could tell from the pods again. Executors that were seen are kept by id, so that one that is missing
 * from a list is noticed, asked for by name, and not merely counted as never made.
 */
import * as z from "zod";
import { instant } from "../../kube/instant.ts";
import { areFew, idsShape } from "./ids.ts";

/** Ids of the driver's own allocator begin at 1 and never come so far in a run that asks for none. */
export const firstId = 1001;

/** Ids are never used twice: with the count of them lost, they go on far beyond any that can be seen. */
export const beyond = 10_000;

/** Ids handed out by one save, epoch ms: until nothing of it can arrive any more, they may still be on their way. */
const round = z.object({
  ids: idsShape,
  at: instant,
  /** When that is, epoch ms, where it is sooner than after any save. */
  until: instant.optional(),
});

export const allotment = z.object({
  /** The run whose executors these are; of another run only `next` still counts. */
  attempt: z.number().int(),
  /** Start of its pods' names: with an id, the whole name. */
  prefix: z.string(),
  /** The first id that was handed out to this run. */
  first: z.number().int().optional(),
  /** The id that is handed out next. It never goes back, also not from run to run. */
  next: z.number().int(),
  /** Executors that were seen and not yet seen to end. */
  alive: idsShape,
  /** Executors that were handed out and never seen. */
  underway: z.array(round).refine((rounds) => areFew(...rounds.map(({ ids }) => ids)), "too many on their way"),
  /** How many were made since the present interval began, epoch ms. */
  window: z.object({ at: instant, made: z.number().int() }).optional(),
  /** The driver's REST API has answered once: its RPC listens. */
  listens: z.boolean().optional(),
  /** One was lost for lack of memory: all that are made from then on run one task at a time. */
  singleTask: z.boolean().optional(),
  /** Executors in a row that ended soon after their start, and when the last one did, epoch ms. */
  crashes: z.object({ count: z.number().int(), at: instant }).optional(),
});

export type Allotment = z.infer<typeof allotment>;

/** When nothing of a round can arrive any more, epoch ms; `settledMs` after a save nothing does. */
export const settlesAt = ({ at, until }: Allotment["underway"][number], settledMs: number): number =>
  until ?? at + settledMs;

/** The allotment of a run that begins: nothing is its own but the ids that are left. */
export const begun = (attempt: number, prefix: string, before: Allotment | undefined): Allotment => {
  const first = before?.next ?? firstId;
  return { attempt, prefix, first, next: first, alive: "", underway: [] };
};

/** How many ids the run was handed out. */
export const handedOut = ({ first = firstId, next }: Allotment): number => Math.max(0, next - first);
