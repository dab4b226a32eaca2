/**
 * The first read of a step: the object of its key and the record, live, assumed, out of the process's cache, or
 * enclosed in the call of a dispatcher. This folder alone knows which; the queries of decisions are in freshness.ts.
 */
import { timerReason } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Plan } from "../../core/plan.ts";
import { dateAt } from "../../core/time.ts";
import {
  type CachedStep,
  epochOf,
  type FirstRead,
  type Observation,
  type OutdatedTimer,
  type StepContext,
  type StoredRecord,
  type World,
} from "../context/world.ts";
import type { Version } from "../ports.ts";
import { assumeNew, readChanged, readLive, readsLive, readTimed } from "./live.ts";

/** Keeps the end of a successful step for the next one, if its kind has a watch that answers reads. */
export const keepInCache = (
  run: StepContext,
  { record, version }: StoredRecord,
  object: Stored | undefined,
  plan: Plan<unknown>,
): void => {
  const { world, message, operator } = run;
  if (operator.watched === undefined || object === undefined || plan.next.do === "forget") return;
  const seen = { object, epoch: epochOf(run) };
  if (record !== undefined && version !== undefined) world.cache?.keep(message, { record, version, ...seen });
  else if (plan.safety?.statusIsRecord === true)
    world.cache?.keep(message, { record: undefined, memory: plan.memory, ...seen });
};

/** Puts back what the step has taken from the cache, for the step that decides again. */
export const keepAgain = (run: StepContext): void => {
  const { world, message, observation } = run;
  const { object, record, version, memory, fromCache } = observation;
  if (fromCache !== true || object === undefined) return;
  const seen = { object, epoch: epochOf(run) };
  if (record !== undefined && version !== undefined) world.cache?.keep(message, { record, version, ...seen });
  else if (memory !== undefined) world.cache?.keep(message, { record: undefined, memory, ...seen });
};

/** Returns the cached entry of a key as if it had been read; undefined if the step must read live. */
const readCached = (world: World, kept: CachedStep, operator: Operator<unknown>): FirstRead | undefined => {
  const { record, object, epoch } = kept;
  if (record !== undefined && readsLive(record)) return undefined;
  const memory = record === undefined ? ({ ok: true, memory: kept.memory } as const) : operator.parse(record.memory);
  if (!memory.ok) return undefined;
  const now = dateAt(epoch, world.clock.monotonic());
  const observation: Observation = {
    object,
    successor: false,
    uid: object.metadata.uid,
    record,
    version: kept.record === undefined ? undefined : kept.version,
    assumedNew: false,
    cachedAt: epoch,
    fromCache: true,
    memory: memory.memory,
    now,
    returning: undefined,
  };
  return { see: "observation", observation };
};

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

/** Reads of the server what a step begins with, but not the record of a new object, nor the object of an outdated timer. */
const readAnew = async ({ world, message, operator }: Call, first: ReadMode): Promise<FirstRead | OutdatedTimer> => {
  const presumes = first === "presuming" || (first === "enclosed" && message.fresh === true);
  const assumed = presumes ? await assumeNew(world, message, operator) : undefined;
  if (assumed !== undefined) return assumed;
  return await (message.reason === timerReason ? readTimed : readLive)(world, message, operator);
};

/** True if the watch may answer the decisions of a step that has not read live on purpose. */
const mayUseCache = ({ world, operator }: Call, { record, returning }: Observation): boolean =>
  world.cache !== undefined && operator.watched !== undefined && !readsLive({ returning, cleanup: record?.cleanup });

/** Returns what a step knows at its beginning, read in the given mode if possible, and live otherwise. */
export const firstRead = async (call: Call, first: ReadMode): Promise<FirstRead | OutdatedTimer> => {
  const { world, message, operator } = call;
  // Loaded with the first call of a dispatcher: the functions of a queue never need it.
  const enclosed = first === "enclosed" ? await (await import("./enclosed.ts")).readEnclosed(call) : undefined;
  if (enclosed !== undefined) return enclosed;
  const changed = first === "recalling" ? await readChanged(world, message, operator) : undefined;
  const kept = world.cache?.take(message);
  if (changed !== undefined) return changed;
  const known = first === "recalling" && kept !== undefined ? readCached(world, kept, operator) : undefined;
  if (known !== undefined) return known;
  const observed = await readAnew(call, first);
  if (observed.see === "outdated timer") {
    if (kept !== undefined && isLeftBy(kept, observed.version)) world.cache?.keep(message, kept);
    return observed;
  }
  if (!isOurs(kept, observed)) world.cache?.invalidate(message);
  if (observed.see !== "observation") return observed;
  const { observation } = observed;
  const fromCache = first !== "live" && mayUseCache(call, observation);
  const answered = { date: observation.now, at: world.clock.monotonic() };
  return { see: "observation", observation: { ...observation, answered, ...(fromCache ? { fromCache } : {}) } };
};

/** True if an assumption or a cached read may still be wrong: nothing was saved yet, so nothing was touched. */
export const mayBeWrong = ({ observation }: StepContext, held: StoredRecord): boolean =>
  (observation.assumedNew || observation.cachedAt !== undefined || observation.recordCached === true) &&
  held.version === observation.version;
