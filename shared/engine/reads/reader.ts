/**
 * The reads of a step: object and record of its key at the beginning, then the queries of its decisions. Only this
 * folder knows whether an answer is live, assumed or cached.
 */
import type { Plan } from "../../core/plan.ts";
import type { CachedStep } from "../cache.ts";
import { type StepReads, stepReads, type Unread } from "../cluster/queries.ts";
import type { FirstRead, Observation } from "../context/observation.ts";
import type { StepContext, StoredRecord } from "../context/step-context.ts";
import { enclosedAnswer } from "../enclosure.ts";
import type { Version } from "../ports.ts";
import { assumeNew } from "./assumed-new.ts";
import { readCached } from "./cached.ts";
import { readEnclosed } from "./enclosed.ts";
import { readLive } from "./live.ts";

/**
 * Returns the process's monotonic time that belongs to `now` of an observation from the cache, ms; undefined if the
 * observation was read live.
 */
export const readAt = ({ cachedAt, now }: Observation): number | undefined =>
  cachedAt === undefined ? undefined : cachedAt.at + (now - cachedAt.date);

type Call = Omit<StepContext, "observation" | "looked">;

/**
 * The first read of a step: live; with the assumption that a new object has no record (`presuming`); from this
 * process's cache (`recalling`); or from what a dispatcher's call encloses, if it may be believed (`enclosed`). If any
 * of the last three is wrong, the save fails.
 */
export type ReadMode = "live" | "presuming" | "recalling" | "enclosed";

/**
 * Returns how a step begins. The cache answers only messages that are marked `watched`; others ask for live reads.
 * Shadow mode reads live, because it saves nothing and would never find an error.
 */
export const readModeOf = ({ world, message }: Call): ReadMode => {
  if (world.shadow !== undefined) return "live";
  if (world.enclosed !== undefined) return "enclosed";
  if (message.fresh === true) return "presuming";
  return message.watched === true && message.tries === undefined ? "recalling" : "live";
};

/** True if the record is as this process's last step saved it, or is assumed to be missing. */
const isOurs = (kept: CachedStep | undefined, observed: FirstRead): boolean => {
  if (observed.see !== "observation") return false;
  const { version } = observed.observation;
  return version === undefined ? observed.observation.assumedNew : isLeftBy(kept, version);
};

const isLeftBy = (kept: CachedStep | undefined, version: Version): boolean =>
  kept !== undefined && kept.record !== undefined && kept.version === version;

/** Returns what a step knows at its beginning, read in the given mode if possible, and live otherwise. */
export const firstRead = async ({ world, message, operator }: Call, first: ReadMode): Promise<FirstRead> => {
  const enclosed = first === "enclosed" ? await readEnclosed({ world, message, operator }) : undefined;
  if (enclosed !== undefined) return enclosed;
  const kept = world.cache?.take(message);
  const known = first === "recalling" && kept !== undefined ? readCached(world, kept, operator) : undefined;
  if (known !== undefined) return known;
  const presumes = first === "presuming" || (first === "enclosed" && message.fresh === true);
  const assumed = presumes ? await assumeNew(world, message, operator) : undefined;
  const observed = assumed ?? (await readLive(world, message, operator));
  if (!isOurs(kept, observed)) world.cache?.invalidate(message);
  const fromCache = first !== "live" && operator.watchful === true && world.cache !== undefined;
  return fromCache && observed.see === "observation"
    ? { see: "observation", observation: { ...observed.observation, fromCache } }
    : observed;
};

/** True if an assumption or a cached read may still be wrong: nothing was saved yet, so nothing was touched. */
export const mayBeWrong = ({ observation }: StepContext, held: StoredRecord): boolean =>
  (observation.assumedNew || observation.cachedAt !== undefined) && held.version === observation.version;

/** False if a plan was decided on what was not read, and is not safe on that: it is decided again on live reads. */
export const isRightOn = ({ fromCache, enclosure }: Observation, { safety }: Plan<unknown>): boolean =>
  (fromCache !== true || safety?.staleSafe === true) && (enclosure === undefined || safety?.enclosureSafe === true);

/** Returns the part of a step's reads that needs no request, apart from the step's own creations. */
const knownBy = ({ world, message, operator, observation }: StepContext): Unread["known"] => {
  const { enclosure, fromCache } = observation;
  if (enclosure !== undefined) {
    const enclosed = operator.encloses?.(message) ?? [];
    return (query) => enclosedAnswer(enclosure, enclosed, query);
  }
  return fromCache === true ? (query) => world.cache?.look(message, query) : undefined;
};

/** Returns the reads of a step's decisions: live, except for those that something known answers. */
export const readsOf = (run: StepContext): StepReads =>
  stepReads(run.world.cluster, { known: knownBy(run), created: run.created });
