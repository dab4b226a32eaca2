/**
 * The live reads at the beginning of a step: the record, then the object. The step of a new object skips its record:
 * it assumes that there is none, and its first save succeeds only if that is true.
 */

import { ApiError } from "../../core/http.ts";
import { same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Returning } from "../../core/plan.ts";
import { dateAt, type Epoch } from "../../core/time.ts";
import { classify } from "../checkpoint/classify.ts";
import type { Salvaged } from "../checkpoint/record.ts";
import {
  type FirstRead,
  type Observation,
  type OutdatedTimer,
  objectRef,
  observationOf,
  returnMsOf,
  type World,
} from "../context/world.ts";
import type { Answer, CheckpointRecord, Clock, Cluster, Loaded, Version } from "../ports.ts";
import { recoveryOf } from "../settings.ts";

/** True of an object without a status. It has no record, unless a step died before it wrote the first status. */
export const seemsNew = ({ metadata, ...object }: Stored): boolean =>
  metadata.deletionTimestamp === undefined && same(object.status ?? {}, {});

/** Age of a cached server time up to which two clocks are trusted to run alike, ms. */
const longestCarriedMs = 60_000;

/** Returns the object as the watch has shown it, with its time; undefined without one, or if its clock reading is old. */
const shownBy = (clock: Clock, object: Stored | undefined, epoch: Epoch): Seen | undefined => {
  const at = clock.monotonic();
  return object === undefined || at - epoch.at > longestCarriedMs
    ? undefined
    : { object, now: dateAt(epoch, at), cachedAt: epoch };
};

/** An object at a time of the server. */
type Seen = { readonly object: Stored; readonly now: number } & Pick<
  Observation,
  "cachedAt" | "answered" | "recordCached"
>;

const assumed = (object: Stored, now: number, cached: Pick<Observation, "cachedAt">): FirstRead => ({
  see: "observation",
  observation: {
    ...{ object, successor: false, uid: object.metadata.uid, record: undefined, version: undefined, memory: undefined },
    ...{ now, assumedNew: true, returning: undefined, ...cached },
  },
});

/**
 * True of a record beside which every read is live: missing objects may return, or everything is to be ended, and both
 * conclude from what is not there.
 */
export const readsLive = ({ returning, cleanup }: Pick<CheckpointRecord, "returning" | "cleanup">): boolean =>
  returning !== undefined || cleanup !== undefined;

/** Returns the new object as the watch has shown it, if its kind may begin with watched objects. */
const watchedNew = ({ cache, clock }: World, key: Key, { watched }: Operator<unknown>): FirstRead | undefined => {
  const appeared = watched === undefined ? undefined : cache?.appeared(key);
  if (appeared === undefined || !seemsNew(appeared.object)) return undefined;
  const shown = shownBy(clock, appeared.object, appeared.epoch);
  return shown === undefined ? undefined : assumed(shown.object, shown.now, { cachedAt: appeared.epoch });
};

/**
 * Returns the observation of an object that seems new; undefined if it does not or is missing, and the step must read
 * live.
 */
export const assumeNew = async (
  world: World,
  key: Key,
  operator: Operator<unknown>,
): Promise<FirstRead | undefined> => {
  const watched = watchedNew(world, key, operator);
  if (watched !== undefined) return watched;
  const { value: object, date } = await world.cluster.get(objectRef(key, operator));
  return object !== undefined && seemsNew(object) ? assumed(object, date, {}) : undefined;
};

/** Reads the object of a key; undefined if it is missing. */
const readNow = async (world: World, key: Key, operator: Operator<unknown>): Promise<Seen | undefined> => {
  const { value: object, date } = await world.cluster.get(objectRef(key, operator));
  const answered = { date, at: world.clock.monotonic() };
  return object === undefined ? undefined : { object, now: date, answered, recordCached: true };
};

/**
 * Returns the observation of an object that has changed since this process's last step of its key: with the record of
 * that step, and the object as the watch shows it, or as a live read does. The save detects an outdated record.
 * Undefined if this is no mere change of a kind whose watch answers reads.
 */
export const readChanged = async (
  world: World,
  key: Key,
  operator: Operator<unknown>,
): Promise<FirstRead | undefined> => {
  const changed = operator.watched === undefined ? undefined : world.cache?.changed(key);
  if (changed === undefined) return undefined;
  const { step } = changed;
  if (step.record === undefined) return undefined;
  const { record, version } = step;
  if (readsLive(record)) return undefined;
  const memory = operator.parse(record.memory);
  if (!memory.ok) return undefined;
  const seen = shownBy(world.clock, changed.object, changed.epoch) ?? (await readNow(world, key, operator));
  if (seen === undefined || isOlder(seen.object, record)) return undefined;
  const { uid, deletionTimestamp } = seen.object.metadata;
  if (uid !== record.uid || deletionTimestamp !== undefined) return undefined;
  const { object, now, ...how } = seen;
  const observation = observationOf(record, { version, memory: memory.memory, object, now });
  return { see: "observation", observation: { ...observation, ...how, fromCache: true } };
};

/**
 * Lists an object that a get did not find. Its absence ends things, so get and list must agree; otherwise throws
 * `StaleRead`.
 */
const confirmAbsence = async (cluster: Cluster, key: Key, operator: Operator<unknown>): Promise<void> => {
  const { value } = await cluster.list({
    do: "list",
    resource: operator.resource,
    namespace: key.namespace,
    labels: {},
    field: `metadata.name=${key.name}`,
  });
  if (value.length === 0) return;
  const message = `${key.kind} ${key.namespace}/${key.name} was not found by name but is listed; trying again`;
  throw new ApiError({ status: 0, reason: "StaleRead", message });
};

/**
 * True if the object is older than the generation that the memory has taken in, because the server lags or was
 * restored. A second read is trusted.
 */
const isOlder = (object: Stored | undefined, { uid, generation = 0 }: Salvaged): boolean =>
  object !== undefined && object.metadata.uid === uid && (object.metadata.generation ?? 0) < generation;

type Found = {
  readonly world: World;
  readonly key: Key;
  readonly operator: Operator<unknown>;
  readonly loaded: Loaded;
  readonly first: Answer<Stored | undefined>;
};

const recorded = async ({ world, key, operator, loaded, first }: Found): Promise<FirstRead> => {
  const settings = recoveryOf(world);
  const diagnosis = classify({ key, operator, settings, clusterUid: world.clusterUid, timing: world.timing }, loaded);
  const { version } = loaded;
  if (diagnosis.is === "empty") return unrecorded(first, { version, returning: windowFor(world, operator, first) });
  const record = diagnosis.is === "sound" ? diagnosis.record : diagnosis.defect.rest;
  const got = isOlder(first.value, record) ? await world.cluster.get(objectRef(key, operator)) : first;
  const { value: object, date: now } = got;
  if (object === undefined) await confirmAbsence(world.cluster, key, operator);
  if (diagnosis.is === "broken")
    return { see: "broken", brokenRecord: { defect: diagnosis.defect, version, object, now } };
  const observation = observationOf(diagnosis.record, { version, object, memory: diagnosis.memory, now });
  return { see: "observation", observation };
};

/**
 * Returns the recovery window of an object without a record. An object that has a status had a record or another
 * controller, so its other objects may still appear.
 */
const windowFor = (
  world: World,
  operator: Operator<unknown>,
  { value: object, date: since }: Answer<Stored | undefined>,
): Returning | undefined =>
  object === undefined || seemsNew(object) ? undefined : { since, until: since + returnMsOf(world, operator, object) };

const unrecorded = (
  { value: object, date: now }: Answer<Stored | undefined>,
  { version, returning }: Pick<Observation, "returning"> & { readonly version?: Version },
): FirstRead => {
  if (object === undefined) return { see: "nothing" };
  const { uid } = object.metadata;
  return {
    see: "observation",
    observation: {
      ...{ object, successor: false, uid, record: undefined, version, memory: undefined },
      ...{ now, assumedNew: false, returning },
    },
  };
};

const readObject = async (
  { world, key, operator }: Pick<Found, "world" | "key" | "operator">,
  loaded: Loaded | undefined,
): Promise<FirstRead> => {
  const first = await world.cluster.get(objectRef(key, operator));
  if (loaded === undefined) return unrecorded(first, { returning: windowFor(world, operator, first) });
  return await recorded({ world, key, operator, loaded, first });
};

/**
 * Reads record and object. The object is read after the record: a step that decides on an older record than the object
 * loses the save.
 */
export const readLive = async (world: World, key: Key, operator: Operator<unknown>): Promise<FirstRead> =>
  await readObject({ world, key, operator }, await world.checkpoints.load(key));

/**
 * True of a record whose last plan wanted no timer, and beside which nothing is under way: no trouble, no recovery, no
 * cleanup order, no update to deliver.
 */
const wantsNoTimer = ({ rests, untimed, wakeAt, ...record }: CheckpointRecord): boolean =>
  (untimed ?? rests === true) &&
  [wakeAt, record.trouble, record.returning, record.cleanup, record.outbox].every((one) => one === undefined);

/**
 * Reads as a step that a timer has begun. A plan replaces the one before it, with its timers: if the record wants none,
 * the timer is an earlier plan's, and the object is not read. What only a live read would find is a resync's to find.
 */
export const readTimed = async (
  world: World,
  key: Key,
  operator: Operator<unknown>,
): Promise<FirstRead | OutdatedTimer> => {
  const loaded = await world.checkpoints.load(key);
  const { clusterUid, timing } = world;
  const diagnosis =
    loaded === undefined
      ? undefined
      : classify({ key, operator, settings: recoveryOf(world), clusterUid, timing }, loaded);
  return loaded !== undefined && diagnosis?.is === "sound" && wantsNoTimer(diagnosis.record)
    ? { see: "outdated timer", version: loaded.version }
    : await readObject({ world, key, operator }, loaded);
};
