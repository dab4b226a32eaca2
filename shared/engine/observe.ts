/** The first look of a step: the checkpoint and the object itself, both live, and whose they are. */
import { ApiError } from "../core/errors.ts";
import { same } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import { isLabelValue, type Ref, type Stored } from "../core/object.ts";
import type { Operator, Parsed } from "../core/operator.ts";
import { type Hearing, type Query, queryId } from "../core/plan.ts";
import type { Answer, CheckpointRecord, Cluster, Version } from "./ports.ts";
import type { Epoch, Recall } from "./recall.ts";
import { readRecord } from "./record.ts";
import type { World } from "./world.ts";

/** What is known of a key before anything is decided. */
export type Sight = {
  /** The object that the memory is about; undefined when it is gone (or another of its name has come). */
  readonly object: Stored | undefined;
  /** Another object now has the name: when the old one's memory is settled, it is its turn. */
  readonly successor: boolean;
  /** UID of that other object. */
  readonly heir?: string;
  readonly uid: string;
  readonly record: CheckpointRecord | undefined;
  readonly version: Version | undefined;
  /** That there is no record was only presumed: the first save, which succeeds only where none is, finds out. */
  readonly presumed: boolean;
  /** Object and record are those that this process remembers: see recall.ts. */
  readonly recalled?: Epoch;
  readonly memory: unknown;
  readonly now: number;
};

export type Observed =
  | { readonly see: "sight"; readonly sight: Sight }
  | { readonly see: "nothing" }
  | { readonly see: "unreadable"; readonly object: Stored | undefined; readonly error: string };

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
const isOlder = (object: Stored | undefined, record: CheckpointRecord): boolean =>
  object?.metadata.uid === record.uid && (object.metadata.generation ?? 0) < (record.generation ?? 0);

/** What was never told anything has no record yet, but for a death on the way to its first status. */
const seemsNew = ({ metadata, ...object }: Stored): boolean =>
  metadata.deletionTimestamp === undefined && same(object["status"] ?? {}, {});

/** A record that was only inherited holds no memory: its object is seen for the first time. */
const memoryOf = (operator: Operator<unknown>, { memory }: CheckpointRecord): Parsed<unknown> =>
  memory === null ? { ok: true, memory: undefined } : operator.parse(memory);

/** `presuming`: the record of what seems new is not asked for, one request in the life of every application. */
export const observe = async (
  world: World,
  key: Key,
  operator: Operator<unknown>,
  presuming = false,
): Promise<Observed> => {
  const ref = objectRef(key, operator);
  const glimpse = presuming ? await world.cluster.get(ref) : undefined;
  if (glimpse?.value !== undefined && seemsNew(glimpse.value)) return unrecorded(glimpse, true);
  // The object after the record: who decides on an object that others have gone on from, loses the save.
  const loaded = await world.checkpoints.load(key);
  const first = await world.cluster.get(ref);
  if (loaded === undefined) return unrecorded(first, false);
  const read = readRecord(loaded.record);
  if (!read.ok) return { see: "unreadable", object: first.value, error: read.error };
  const got = isOlder(first.value, read.record) ? await world.cluster.get(ref) : first;
  if (got.value === undefined) await confirmAbsence(world.cluster, key, operator);
  if (read.record.cluster !== world.clusterUid) {
    const error = `the record was made in another cluster (${read.record.cluster}, this is ${world.clusterUid})`;
    return { see: "unreadable", object: got.value, error };
  }
  const memory = memoryOf(operator, read.record);
  if (!memory.ok) return { see: "unreadable", object: got.value, error: memory.error };
  const same = got.value?.metadata.uid === read.record.uid;
  return {
    see: "sight",
    sight: {
      object: same ? got.value : undefined,
      successor: got.value !== undefined && !same,
      ...(got.value === undefined || same ? {} : { heir: got.value.metadata.uid }),
      uid: read.record.uid,
      record: read.record,
      version: loaded.version,
      presumed: false,
      memory: memory.memory,
      now: got.date,
    },
  };
};

const unrecorded = ({ value: object, date: now }: Answer<Stored | undefined>, presumed: boolean): Observed => {
  if (object === undefined) return { see: "nothing" };
  const sight: Sight = {
    object,
    successor: false,
    uid: object.metadata.uid,
    record: undefined,
    version: undefined,
    presumed,
    memory: undefined,
    now,
  };
  return { see: "sight", sight };
};

/** No object carries what is no label, and the server refuses to look for it. */
const isAskable = (labels: Readonly<Record<string, string>>): boolean => Object.values(labels).every(isLabelValue);

type Looking = Extract<Query, { do: "get" | "list" }>;

const look = async (cluster: Cluster, query: Looking): Promise<readonly Stored[]> => {
  if (query.do === "list") return isAskable(query.labels) ? (await cluster.list(query)).value : [];
  const { value } = await cluster.get(query.ref);
  return value === undefined ? [] : [value];
};

/** What is hidden from us by rights is no trouble here; everything else that is no answer is. */
const peek = async (cluster: Cluster, ref: Ref): Promise<Hearing> => {
  try {
    return { heard: true, value: (await cluster.get(ref)).value };
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 403) throw cause;
    return { heard: false, why: "forbidden", message: cause.message };
  }
};

export type Answers = { readonly seen: Map<string, readonly Stored[]>; readonly heard: Map<string, Hearing> };

export const noAnswers = (): Answers => ({ seen: new Map(), heard: new Map() });

/** Answers what a decision wants to know into `answers`: live, but for lists that `known` has an answer to. */
export const learn = async (
  cluster: Cluster,
  query: Query,
  { seen, heard }: Answers,
  known?: Recall["list"],
): Promise<void> => {
  const id = queryId(query);
  const watched = query.do === "list" && query.again !== true ? known?.(query) : undefined;
  if (watched !== undefined) {
    seen.set(id, watched);
    return;
  }
  if (query.do === "ask") heard.set(id, await cluster.ask(query));
  else if (query.do === "peek") heard.set(id, await peek(cluster, query.ref));
  else seen.set(id, await look(cluster, query));
};
