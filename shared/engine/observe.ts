/** The first look of a step: the checkpoint and the object itself, both live, and whose they are. */
import { ApiError } from "../core/errors.ts";
import { same } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import type { Ref, Stored } from "../core/object.ts";
import type { Operator } from "../core/operator.ts";
import type { Returning } from "../core/recovery.ts";
import { dateAt, type Epoch } from "../core/time.ts";
import type { Answer, CheckpointRecord, Cluster, Loaded, Version } from "./ports.ts";
import type { Salvaged } from "./record.ts";
import { classify, type Defect } from "./recovery/classify.ts";
import { recoveryOf } from "./settings.ts";
import type { World } from "./world.ts";

/** What is known of a key before anything is decided. */
export type Observation = {
  /** The object that the memory is about; undefined when it is gone (or another of its name has come). */
  readonly object: Stored | undefined;
  /** Another object now has the name: when the old one's memory is settled, it is its turn. */
  readonly successor: boolean;
  /** UID of that other object. */
  readonly replacementUid?: string;
  readonly uid: string;
  readonly record: CheckpointRecord | undefined;
  readonly version: Version | undefined;
  /** That there is no record was only presumed: the first save, which succeeds only where none is, finds out. */
  readonly assumedNew: boolean;
  /** Object and record are those that this process remembers: see cache.ts. */
  readonly cachedAt?: Epoch;
  /** What was watched may answer looks, and only a `staleSafe` plan is carried out. */
  readonly fromCache?: true;
  readonly memory: unknown;
  readonly now: number;
  /** What is missing may come back until then: the record says so, or is not there although there was something. */
  readonly returning: Returning | undefined;
};

/** A record that cannot be gone on with as it is, and the object of its name. */
export type BrokenRecord = {
  readonly ill: Defect;
  readonly version: Version | undefined;
  readonly object: Stored | undefined;
  readonly now: number;
};

export type FirstRead =
  | { readonly see: "observation"; readonly observation: Observation }
  | { readonly see: "nothing" }
  | { readonly see: "ill"; readonly brokenRecord: BrokenRecord };

export const objectRef = (key: Key, operator: Operator<unknown>): Ref => ({
  resource: operator.resource,
  namespace: key.namespace,
  name: key.name,
});

/** Absence ends things, so one answer is not enough for it: the list must agree with the get. */
const confirmAbsence = async (cluster: Cluster, key: Key, operator: Operator<unknown>): Promise<void> => {
  const { value } = await cluster.list({
    do: "list",
    resource: operator.resource,
    namespace: key.namespace,
    labels: {},
    field: `metadata.name=${key.name}`,
  });
  if (value.length === 0) return;
  const message = `${key.kind} ${key.namespace}/${key.name} was not found, then listed; looking again`;
  throw new ApiError({ status: 0, reason: "StaleRead", message });
};

/** An object from before what the memory has taken in: a server that is behind, or was restored. Asked again, it is believed. */
const isOlder = (object: Stored | undefined, { uid, generation = 0 }: Salvaged): boolean =>
  object !== undefined && object.metadata.uid === uid && (object.metadata.generation ?? 0) < generation;

/** What was never told anything has no record yet, but for a death on the way to its first status. */
const seemsNew = ({ metadata, ...object }: Stored): boolean =>
  metadata.deletionTimestamp === undefined && same(object["status"] ?? {}, {});

/** So long two clocks are trusted to go alike. */
const longestCarriedMs = 60_000;

/** Where what is watched is enough to begin with, the new object is known already, and the server's clock from an answer before. */
const watchedNew = (
  { recall, clock }: World,
  key: Key,
  { watchful }: Operator<unknown>,
): (Answer<Stored> & { readonly cachedAt: Epoch }) | undefined => {
  const appeared = watchful === true ? recall?.appeared(key) : undefined;
  if (appeared === undefined || !seemsNew(appeared.object)) return undefined;
  const now = clock.monotonic();
  const { object, epoch } = appeared;
  return now - epoch.at > longestCarriedMs ? undefined : { value: object, date: dateAt(epoch, now), cachedAt: epoch };
};

/** `presuming`: the record of what seems new is not asked for, one request in the life of every application. */
export const observe = async (
  world: World,
  key: Key,
  operator: Operator<unknown>,
  presuming = false,
): Promise<FirstRead> => {
  const ref = objectRef(key, operator);
  const watched = presuming ? watchedNew(world, key, operator) : undefined;
  if (watched !== undefined)
    return unrecorded(watched, { assumedNew: true, cachedAt: watched.cachedAt, returning: undefined });
  const glimpse = presuming ? await world.cluster.get(ref) : undefined;
  if (glimpse?.value !== undefined && seemsNew(glimpse.value))
    return unrecorded(glimpse, { assumedNew: true, returning: undefined });
  // The object after the record: who decides on an object that others have gone on from, loses the save.
  const loaded = await world.checkpoints.load(key);
  const first = await world.cluster.get(ref);
  if (loaded === undefined)
    return unrecorded(first, { assumedNew: false, returning: windowFor(world, operator, first) });
  return await recorded({ world, key, operator, loaded, first });
};

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
  if (diagnosis.is === "empty")
    return unrecorded(first, { assumedNew: false, version, returning: windowFor(world, operator, first) });
  const record = diagnosis.is === "well" ? diagnosis.record : diagnosis.ill.rest;
  const got = isOlder(first.value, record) ? await world.cluster.get(objectRef(key, operator)) : first;
  const { value: object, date: now } = got;
  if (object === undefined) await confirmAbsence(world.cluster, key, operator);
  if (diagnosis.is === "ill") return { see: "ill", brokenRecord: { ill: diagnosis.ill, version, object, now } };
  const observation = observationOf(diagnosis.record, { version, object, memory: diagnosis.memory, now });
  return { see: "observation", observation };
};

/** A sound record, and what stands under its name now. */
export const observationOf = (
  record: CheckpointRecord,
  { version, object, memory, now }: Pick<Observation, "version" | "object" | "memory" | "now">,
): Observation => {
  const same = object?.metadata.uid === record.uid;
  return {
    object: same ? object : undefined,
    successor: object !== undefined && !same,
    ...(object === undefined || same ? {} : { replacementUid: object.metadata.uid }),
    uid: record.uid,
    record,
    version,
    assumedNew: false,
    memory,
    now,
    returning: record.returning,
  };
};

/** How long what belongs to an object may take to come back, ms. */
export const returnMsOf = (world: World, operator: Operator<unknown>, object: Stored): number =>
  operator.recovery?.returnMs?.(object) ?? recoveryOf(world).returnMs;

/** Who was told something has had a record, or another controller: what belongs to it may come back. */
const windowFor = (
  world: World,
  operator: Operator<unknown>,
  { value: object, date: since }: Answer<Stored | undefined>,
): Returning | undefined =>
  object === undefined || seemsNew(object) ? undefined : { since, until: since + returnMsOf(world, operator, object) };

const unrecorded = (
  { value: object, date: now }: Answer<Stored | undefined>,
  { version, ...how }: Pick<Observation, "assumedNew" | "returning" | "cachedAt"> & { readonly version?: Version },
): FirstRead => {
  if (object === undefined) return { see: "nothing" };
  const { uid } = object.metadata;
  return {
    see: "observation",
    observation: { object, successor: false, uid, record: undefined, version, memory: undefined, now, ...how },
  };
};
