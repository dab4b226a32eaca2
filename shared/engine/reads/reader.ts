/**
 * The one door through which a step reads: its key's object and record at the beginning, then the queries of its decisions.
 * Whether an answer is live, assumed or from this process's cache is known here and in this folder alone.
 */
import type { Plan } from "../../core/plan.ts";
import type { StepContext, StoredRecord } from "../context.ts";
import type { FirstRead, Observation } from "../observation.ts";
import type { Version } from "../ports.ts";
import { assumeNew } from "./assumed-new.ts";
import type { CachedStep } from "./cache.ts";
import { readCached } from "./cached.ts";
import { readLive } from "./live.ts";
import { type StepReads, stepReads } from "./queries.ts";

/** When the process's own clock stood where a sight's `now` says, ms, where that was carried along: it may be a second ago. */
export const readAt = ({ cachedAt, now }: Observation): number | undefined =>
  cachedAt === undefined ? undefined : cachedAt.at + (now - cachedAt.date);

type Call = Omit<StepContext, "observation" | "looked">;

/**
 * How a step begins: with live reads; with the assumption that a new object has no record (`presuming`); or with what this
 * process remembers (`recalling`). The save finds out when either of the last two was wrong.
 */
export type ReadMode = "live" | "presuming" | "recalling";

/** Only what was watched is known already; whoever else calls wants it looked for. A shadow saves nothing, and so would never find out. */
export const readModeOf = ({ world, message }: Call): ReadMode => {
  if (world.shadow !== undefined) return "live";
  if (message.fresh === true) return "presuming";
  return message.watched === true && message.tries === undefined ? "recalling" : "live";
};

/** The record stands as the last step here has left it, or there is none yet. */
const isOurs = (kept: CachedStep | undefined, observed: FirstRead): boolean => {
  if (observed.see !== "observation") return false;
  const { version } = observed.observation;
  return version === undefined ? observed.observation.assumedNew : isLeftBy(kept, version);
};

const isLeftBy = (kept: CachedStep | undefined, version: Version): boolean =>
  kept !== undefined && kept.record !== undefined && kept.version === version;

/** What a step knows at its beginning, read in the given way as far as that is possible, and live otherwise. */
export const firstRead = async ({ world, message, operator }: Call, first: ReadMode): Promise<FirstRead> => {
  const kept = world.cache?.take(message);
  const known = first === "recalling" && kept !== undefined ? readCached(world, kept, operator) : undefined;
  if (known !== undefined) return known;
  const assumed = first === "presuming" ? await assumeNew(world, message, operator) : undefined;
  const observed = assumed ?? (await readLive(world, message, operator));
  if (!isOurs(kept, observed)) world.cache?.invalidate(message);
  const fromCache = first !== "live" && operator.watchful === true && world.cache !== undefined;
  return fromCache && observed.see === "observation"
    ? { see: "observation", observation: { ...observed.observation, fromCache } }
    : observed;
};

/** Until something is saved, what stood in for a live read may turn out wrong; nothing has been touched then. */
export const mayBeWrong = ({ observation }: StepContext, held: StoredRecord): boolean =>
  (observation.assumedNew || observation.cachedAt !== undefined) && held.version === observation.version;

/** False where a plan that was decided on cached objects is not right on them for certain: it is decided again on live reads. */
export const isRightOn = ({ fromCache }: Observation, { safety }: Plan<unknown>): boolean =>
  fromCache !== true || safety?.staleSafe === true;

/** The reads of a step's decisions: live, but for those that the watch of this process may answer. */
export const readsOf = ({ world, message, observation }: StepContext): StepReads =>
  stepReads(world.cluster, observation.fromCache === true ? (query) => world.cache?.look(message, query) : undefined);
