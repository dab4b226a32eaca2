/**
 * The reads of a step: object and record of its key at the beginning, then the queries of its decisions. This folder
 * alone knows whether an answer is live, assumed, out of the process's cache, or enclosed in the call of a dispatcher.
 * An enclosure stands for a live read of the moment at which the dispatcher looked, so it is believed only for a few
 * seconds, only for a message from the watch, and only for a plan that is `enclosureSafe`.
 */
import { same } from "../../core/json.ts";
import { timerReason } from "../../core/key.ts";
import { apiVersionOf, type Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Listing, Looking, Plan } from "../../core/plan.ts";
import { dateAt, type Epoch } from "../../core/time.ts";
import { classify } from "../checkpoint/classify.ts";
import { type StepReads, stepReads, type Unread } from "../cluster/queries.ts";
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
import type { Enclosure, Version } from "../ports.ts";
import { recoveryOf } from "../settings.ts";
import { assumeNew, readChanged, readLive, readTimed, seemsNew } from "./live.ts";

/** The age up to which an enclosure is believed, ms: as old as a step's first read may be when it creates a driver. */
const oldestMs = 4_000;
/** The longest that the two clocks may disagree, ms: both follow the server's `Date`, in whole seconds. */
const skewMs = 2_000;
/** The age of a reading of the server's clock up to which this process's clock is trusted to run alike, ms. */
const longestSinceMs = 60_000;

/**
 * Returns the monotonic time at which a dispatcher looked; undefined if the enclosure is too old, or if this process
 * cannot tell. `server`: this process's own latest reading of the server's clock.
 */
const lookedAt = ({ date }: Enclosure, server: Epoch | undefined, monotonic: number): number | undefined => {
  if (server === undefined || monotonic - server.at > longestSinceMs) return undefined;
  const ageMs = server.date + (monotonic - server.at) - date;
  return ageMs > oldestMs || ageMs < -skewMs ? undefined : monotonic - Math.max(0, ageMs);
};

/** True if the object may be an answer to the list. */
const answers = ({ resource, namespace, labels }: Listing, { apiVersion, kind, metadata }: Stored): boolean =>
  apiVersion === apiVersionOf(resource) &&
  kind === resource.kind &&
  metadata.namespace === namespace &&
  Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);

/** Returns the enclosed answer to a query; undefined if none is enclosed. */
const enclosedAnswer = (
  { lists }: Enclosure,
  enclosed: readonly Listing[],
  query: Looking,
): readonly Stored[] | undefined => {
  const at = enclosed.findIndex((listing) => same(listing, query));
  return at < 0 ? undefined : lists[at];
};

type EnclosedCall = Pick<StepContext, "world" | "message" | "operator">;

/** True if the enclosure is about the key, and its lists are answers to the lists that the operator `encloses`. */
const isAbout = (
  message: EnclosedCall["message"],
  { resource, encloses }: Operator<unknown>,
  { object, lists }: Enclosure,
): boolean => {
  const { namespace, name } = message;
  const listings = encloses?.(message);
  return (
    listings !== undefined &&
    listings.length === lists.length &&
    answers({ do: "list", resource, namespace, labels: {} }, object) &&
    object.metadata.name === name &&
    listings.every((listing, at) => lists[at]?.every((one) => answers(listing, one)) === true)
  );
};

/** Returns the enclosure of a step that may begin with it; undefined: it must read live. */
const enclosureFor = ({ world, message, operator }: EnclosedCall): Enclosure | undefined => {
  if (message.tries !== undefined || world.shadow !== undefined) return undefined;
  const enclosure = world.enclosed?.(message);
  return enclosure !== undefined && isAbout(message, operator, enclosure) ? enclosure : undefined;
};

/** Returns the observation of a step that begins with its enclosure; undefined: it must read live. */
const readEnclosed = async (call: EnclosedCall): Promise<FirstRead | undefined> => {
  const { world, message, operator } = call;
  const enclosure = enclosureFor(call);
  if (enclosure === undefined) return undefined;
  const at = lookedAt(enclosure, world.serverTime?.(), world.clock.monotonic());
  const { object, date: now } = enclosure;
  if (at === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const { uid } = object.metadata;
  const common = { object, successor: false, uid, now, returning: undefined, cachedAt: { date: now, at }, enclosure };
  const see = (rest: Pick<Observation, "record" | "version" | "memory" | "assumedNew">): FirstRead => ({
    see: "observation",
    observation: { ...common, ...rest },
  });
  if (message.fresh === true && seemsNew(object))
    return see({ record: undefined, version: undefined, memory: undefined, assumedNew: true });
  const loaded = await world.checkpoints.load(message);
  if (loaded === undefined) return undefined;
  const { clusterUid, timing } = world;
  const diagnosis = classify({ key: message, operator, settings: recoveryOf(world), clusterUid, timing }, loaded);
  if (diagnosis.is !== "sound") return undefined;
  const { record, memory } = diagnosis;
  const isCurrent = record.uid === uid && (object.metadata.generation ?? 0) >= (record.generation ?? 0);
  // A recovery window is about objects that may still appear: only live reads show them.
  if (!isCurrent || record.returning !== undefined || record.cleanup !== undefined) return undefined;
  return see({ record, version: loaded.version, memory, assumedNew: false });
};

/** Keeps the end of a successful step, if the next one may be decided on it. */
export const keepInCache = (
  run: StepContext,
  { record, version }: StoredRecord,
  object: Stored | undefined,
  plan: Plan<unknown>,
): void => {
  const { world, message } = run;
  if (plan.safety?.staleSafe !== true || object === undefined) return;
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

/** Returns the cached entry of a key as if it had been read; undefined if its memory does not parse. */
const readCached = (world: World, kept: CachedStep, operator: Operator<unknown>): FirstRead | undefined => {
  const { record, object, epoch } = kept;
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
    returning: record?.returning,
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
const mayUseCache = ({ world, operator }: Call, { cachedAt }: Observation): boolean =>
  world.cache !== undefined && (operator.watchful === true || cachedAt !== undefined);

/** Returns what a step knows at its beginning, read in the given mode if possible, and live otherwise. */
export const firstRead = async (call: Call, first: ReadMode): Promise<FirstRead | OutdatedTimer> => {
  const { world, message, operator } = call;
  const enclosed = first === "enclosed" ? await readEnclosed(call) : undefined;
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
