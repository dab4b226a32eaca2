/**
 * The five ports of the engine: cluster, checkpoints, queue, clock, report; and two that bound the cost of decisions:
 * the time limit and the journal.
 */
import type { KeptLog } from "../core/kept-log.ts";
import type { Key, Message } from "../core/key.ts";
import type { Obj, Ref, Stored } from "../core/object.ts";
import type { PastRun, ProbeResult, Query, Returning } from "../core/plan.ts";
import type { Outbox, Position } from "../core/updates.ts";

/** An answer, and the API server's clock at that time (`Date` header), epoch ms. */
export type Answer<T> = { readonly value: T; readonly date: number };

type Fields = Readonly<Record<string, unknown>>;

/** The Kubernetes API, live. Every call has a deadline. An error answer, or none at all, throws `ApiError`. */
export type Cluster = {
  /** Quorum read; undefined is a 404 NotFound that names this object. `only`: the server leaves out spec and status. */
  get(ref: Ref, only?: "metadata"): Promise<Answer<Stored | undefined>>;
  /** Quorum read of all pages. */
  list(query: Extract<Query, { do: "list" }>): Promise<Answer<readonly Stored[]>>;
  /** Returns the answer of a pod on one of its ports. A pod that does not answer is a probe result, not an error. */
  proxyGet(query: Extract<Query, { do: "proxyGet" }>): Promise<ProbeResult>;
  /**
   * Returns the last lines of a container's log, at most `mostBytes`, as gzip in base64. A log that cannot be read in time is a probe
   * result, not an error; `notFound`: there is none.
   */
  logEnd(pod: Ref, container: string, mostBytes: number): Promise<ProbeResult>;
  create(ref: Ref, object: Obj): Promise<Stored>;
  /**
   * Deletes only this UID (and, if given, this resourceVersion); resolves also when it is already gone. `orphans`: what it
   * owns stays.
   */
  remove(
    ref: Ref,
    fence: { uid: string; resourceVersion?: string; graceSeconds?: number; orphans?: true },
  ): Promise<void>;
  /** Asks the Eviction API to delete a pod of this UID; resolves also when it is already gone. 429: a budget forbids it. */
  evict(ref: Ref, uid: string): Promise<void>;
  /** Merge patch of the object itself; 409 unless it still is this UID at this resourceVersion. */
  patch(ref: Ref, fence: { uid: string; resourceVersion: string }, patch: Fields): Promise<Stored>;
  /** Merge patch of the status subresource, refused with 409 unless `resourceVersion` is current. */
  patchStatus(ref: Ref, resourceVersion: string, status: unknown): Promise<Stored>;
};

/** The settings of the deployment that saved a record. */
export type SavedSettings = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The last recovery of a key, for people to read. `at` in epoch ms. */
export type Recovered = {
  readonly at: number;
  readonly how: "salvaged" | "voided" | "fresh" | "reconnected" | "cleaned";
  readonly why: string;
  /** With `fresh`: the discarded record, unless it is too large to keep. */
  readonly was?: unknown;
};

/**
 * An order to end everything that a key owns: given at `since`, by force from `forceAt`, carried out at `done`. Epoch
 * ms.
 */
export type Cleanup = {
  readonly since: number;
  readonly graceSeconds: number;
  readonly forceAt: number;
  readonly done?: number | undefined;
};

/** A wait that is over: its reason, its begin and its end, epoch s. */
export type PastWait = readonly [reason: string, from: number, to: number];

/** The latest past of a record, oldest first, for people to read. */
export type Timeline = {
  readonly waits?: readonly PastWait[] | undefined;
  /** Reason and begin, epoch s, of the present wait. */
  readonly waiting?: readonly [reason: string, from: number] | undefined;
  /** Times of saves, epoch s; several saves of one second are one. */
  readonly saves?: readonly number[] | undefined;
};

/** A change of a spec: its time, epoch s, and the merge patch to the spec before, as JSON; "" where it is too large. */
export type SpecChange = readonly [at: number, back: string];

/** The spec of an object at its last save and its latest changes, oldest first, for people to read. */
export type Specs = {
  /** `metadata.generation` of the spec. */
  readonly generation: number;
  /** JSON, with digests in place of most texts; "" where it is too large. */
  readonly spec: string;
  readonly changes?: readonly SpecChange[] | undefined;
};

/** The fields of a record of any use. Fields of later versions are kept. */
type SavedRecord = {
  readonly schema: 1;
  /** UID of the cluster (of its kube-system namespace). */
  readonly cluster: string;
  /** UID of the application the memory is about. */
  readonly uid: string;
  /** Counts the saves. No two saves are equal, so a save that changes nothing else still acts as a lock. */
  readonly saves: number;
  /** Nothing is left to do unless the object changes: a resync skips the key. */
  readonly rests?: boolean | undefined;
  /** Of a record that rests: the digest of the object's labels and annotations, by which a resync finds a change of these. */
  readonly marks?: string | undefined;
  readonly wakeAt?: number | undefined;
  /** Null: none yet. */
  readonly memory: unknown;
};

/** Digests of the status that the last write wished for and of the one that the server kept, if they differ. */
export type StatusMemo = { readonly wished: string; readonly answered: string } | undefined;

/** The record of an object's key. The operator of the kind parses `memory`. */
export type CheckpointRecord = SavedRecord & {
  /** The settings of the deployment at the last save. */
  readonly made?: SavedSettings | undefined;
  /** `metadata.generation` of the object that the memory has taken in. */
  readonly generation?: number | undefined;
  /** Labels of the object when it was last read: they tell whose key it is after the object is gone. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly waitsFor?: string | undefined;
  /**
   * The plan waits for events alone: a timer that still comes was set by an earlier plan. False: the plan rests, and the
   * timer that began its step may come again.
   */
  readonly untimed?: boolean | undefined;
  readonly status?: StatusMemo;
  /** The trouble of the last step, if it lasted; removed by the next step that succeeds. */
  readonly trouble?: { readonly reason: string; readonly message: string; readonly since: number } | undefined;
  /** The recovery window, in which a missing object may still appear. */
  readonly returning?: Returning | undefined;
  readonly cleanup?: Cleanup | undefined;
  readonly recovered?: Recovered | undefined;
  /** Runs that are over, oldest first, until their retention has passed; the memory itself describes the latest run. */
  readonly runs?: readonly PastRun[] | undefined;
  /** The end of the retention of the oldest run, epoch ms. */
  readonly pruneAt?: number | undefined;
  /** Past waits and times of saves. */
  readonly timeline?: Timeline | undefined;
  /** Of a kind that keeps specs. */
  readonly specs?: Specs | undefined;
  /** Logs of its drivers may be kept: they are deleted before the record. */
  readonly logs?: true | undefined;
  /** Updates to deliver; absent if the key has no listener. */
  readonly outbox?: Outbox | undefined;
};

/** The record of a stream's delivery; its `memory` is the cursor of the stream. */
export type DeliveryRecord = SavedRecord & {
  /** The position up to which the stream is acknowledged. */
  readonly acknowledged?: Position | undefined;
};

/** The record of a watch: `at` is the position up to which its changes are sent. */
export type CursorRecord = SavedRecord & { readonly rests: true; readonly memory: { readonly at: string } };

/** The record of kept logs. `rests`: they outlive their object. `pruneAt`: the end of the first retention, epoch ms. */
export type LogsRecord = SavedRecord & {
  readonly pruneAt: number;
  readonly memory: { readonly logs: readonly KeptLog[] };
};

/** A record of any use, as a store keeps it. */
export type AnyRecord = CheckpointRecord | DeliveryRecord | CursorRecord | LogsRecord;

/** A stored record that was read, or the error that says why it cannot be. */
export type ReadResult<R> = { readonly ok: true; readonly record: R } | { readonly ok: false; readonly error: string };

/** Opaque token of a stored version, for compare-and-swap. */
export type Version = string;

/** `edited`: another client has changed the record since it was saved. */
export type Loaded = { readonly record: unknown; readonly version: Version; readonly edited?: boolean };

export type Checkpoints = {
  load(key: Key): Promise<Loaded | undefined>;
  /** Stores if the version is still the given one (undefined: if there is none); "raced" changes nothing. */
  save(key: Key, record: AnyRecord, version: Version | undefined): Promise<Version | "raced">;
  /** Removes if the version is still the given one. */
  remove(key: Key, version: Version): Promise<"removed" | "raced">;
  /**
   * False while records of keys without a namespace cannot be kept, because the namespace of such records is missing.
   * Absent: they always can.
   */
  homed?(): Promise<boolean>;
};

/** Sending side of the queue. */
export type Queue = {
  /** First in, first out per key. A message with an id that was sent within the last five minutes is dropped. */
  send(message: Message, dedupeId: string): Promise<void>;
  /** At most 900 s. */
  sendLater(message: Message, dedupeId: string, delayMs: number): Promise<void>;
};

/** The listeners to status updates, as a step needs them. */
export type Updates = {
  /** Returns the destination for the updates of an object with these annotations; undefined if it has none. */
  destinationOf(key: Key, annotations: Readonly<Record<string, string>> | undefined): Promise<string | undefined>;
  /** Returns the position up to which the key's stream is acknowledged; undefined if nothing ever was. */
  acknowledged(key: Key): Promise<Position | undefined>;
  /**
   * True: what a step sends travels in the answer to a call, which may be lost after the step's save; so each later step
   * asks again for the delivery of a recent update. Absent: only a retried step does, and one that comes late.
   */
  readonly asksAgain?: boolean;
};

/**
 * Makes random secret values, base64 by the keys of a Secret's `data`. They go into the object only, never into logs or
 * records.
 */
export type Chance = (what: "ssh-key") => Promise<Readonly<Record<string, string>>>;

/** The enclosure of a dispatcher's call for a key: see reads/enclosed.ts. */
export type Enclosure = {
  /** The API server's clock when the dispatcher looked, epoch ms. */
  readonly date: number;
  readonly object: Stored;
  /** The answers to the lists that the operator `encloses`, in their order. */
  readonly lists: readonly (readonly Stored[])[];
};

export type Clock = {
  /** A monotonic time, ms. */
  monotonic(): number;
  /** Waits, ms. Absent: a step does not wait for changes, and takes them up with a later message. */
  pause?(ms: number): Promise<void>;
};

/** Writes one structured log line. It must not contain secrets. */
export type Report = (
  level: "debug" | "info" | "warn" | "error",
  message: string,
  fields?: Record<string, unknown>,
) => void;

/** Runs pure work and returns its result, or throws a BudgetError if it takes longer than `ms`. */
export type TimeLimit = <T>(ms: number, work: () => T) => T;

/** Runs slices of decisions on the event loop, and stops one that takes too long. */
export type Slices = {
  /** Calls `begin` after the event loop has served its pending events. */
  later(begin: () => void): void;
  /**
   * Runs pure work in a call of `begin`. Calls `stopped` with a BudgetError if the work takes longer than `ms`, perhaps
   * after the call of `begin`; nothing of `begin` runs after stopped work.
   */
  guard(ms: number, work: () => void, stopped: (cause: unknown) => void): void;
};

/** A decision about one version of a key's object. */
export type Decision = { readonly key: string; readonly namespace: string; readonly version: string };

/**
 * A decision that was stopped `count` times; 0 if the process died during it once, possibly by chance. `at` in epoch
 * ms.
 */
export type Stop = Decision & { readonly count: number; readonly at: number };

/** Storage that outlives the process. Writes are synchronous, because the process may die with the next instruction. */
export type Journal = {
  /** The decision during which the previous process died. */
  readonly died: Decision | undefined;
  /** The stops that were saved. */
  readonly stops: readonly Stop[];
  begin(decision: Decision): void;
  end(): void;
  save(stops: readonly Stop[]): void;
};
