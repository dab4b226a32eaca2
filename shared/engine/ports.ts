/**
 * The five ports through which the engine reaches the world: cluster, checkpoints, queue, clock, report; and two by which it
 * bounds what a decision costs: the time limit and the journal.
 */
import type { Key, Message } from "../core/key.ts";
import type { Obj, Ref, Stored } from "../core/object.ts";
import type { Outbox, Position } from "../core/outbox.ts";
import type { ProbeResult, Query } from "../core/query.ts";
import type { PastRun, Returning } from "../core/recovery.ts";

/** An answer and the API server's clock when it gave it (`Date` header), epoch ms. */
export type Answer<T> = { readonly value: T; readonly date: number };

type Fields = Readonly<Record<string, unknown>>;

/** The Kubernetes API, live. Every call has a deadline and throws `ApiError` for anything that is not an answer. */
export type Cluster = {
  /** Quorum read; undefined is a 404 NotFound that names this object. */
  get(ref: Ref): Promise<Answer<Stored | undefined>>;
  /** Quorum read of all pages. */
  list(query: Extract<Query, { do: "list" }>): Promise<Answer<readonly Stored[]>>;
  /** What a pod answers on a port of its own; rejects with nothing that comes back: a deaf pod is an answer, too. */
  proxyGet(query: Extract<Query, { do: "proxyGet" }>): Promise<ProbeResult>;
  create(ref: Ref, object: Obj): Promise<Stored>;
  /** Deletes only this UID (and, if given, this resourceVersion); resolves also when it is already gone. */
  remove(ref: Ref, fence: { uid: string; resourceVersion?: string; graceSeconds?: number }): Promise<void>;
  /** Merge patch of the object itself; 409 unless it still is this UID at this resourceVersion. */
  patch(ref: Ref, fence: { uid: string; resourceVersion: string }, patch: Fields): Promise<Stored>;
  /** Merge patch of the status subresource, refused with 409 unless `resourceVersion` is current. */
  patchStatus(ref: Ref, resourceVersion: string, status: unknown): Promise<Stored>;
};

/** What records of a deployment are made with. */
export type Made = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The last recovery of a key, for people. `at` in epoch ms. */
export type Recovered = {
  readonly at: number;
  readonly how: "salvaged" | "voided" | "fresh" | "reconnected" | "cleaned";
  readonly why: string;
  /** Of a start afresh: the record that was given up, unless it is too large to be kept. */
  readonly was?: unknown;
};

/** An order to end everything: given at `since`, by force from `forceAt`, carried out at `done`. Epoch ms. */
export type Cleanup = {
  readonly since: number;
  readonly graceSeconds: number;
  readonly forceAt: number;
  readonly done?: number | undefined;
};

/** What is kept outside for one key. `memory` is the operator's, parsed at its door. Fields of later versions are kept. */
export type CheckpointRecord = {
  readonly schema: 1;
  /** UID of the cluster (of its kube-system namespace). */
  readonly cluster: string;
  /** UID of the application the memory is about. */
  readonly uid: string;
  /** Counts the saves: no two are alike, so that a save that changes nothing else is still a lock. */
  readonly saves: number;
  /** What the deployment was set to when it was saved. */
  readonly made?: Made | undefined;
  /** `metadata.generation` of the object that the memory has taken in. */
  readonly generation?: number | undefined;
  /** Labels of the object when it was last seen: whose it was can be told also when it is gone. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Nothing is left to do unless the object changes: a resync may pass by. */
  readonly rests?: boolean | undefined;
  readonly wakeAt?: number | undefined;
  readonly waitsFor?: string | undefined;
  /** What our last status write wished and was answered (hashes), when the server kept something else. */
  readonly status?: { readonly wished: string; readonly answered: string } | undefined;
  /** What stood in the way of the last step, if it lasted; gone with the next step that gets through. */
  readonly trouble?: { readonly reason: string; readonly message: string; readonly since: number } | undefined;
  /** Until when what is missing may come back. */
  readonly returning?: Returning | undefined;
  readonly cleanup?: Cleanup | undefined;
  readonly recovered?: Recovered | undefined;
  /** Runs that are over, the oldest first, until their retention has passed; the latest is the memory itself. */
  readonly runs?: readonly PastRun[] | undefined;
  /** When the retention of the first of them has passed, epoch ms. */
  readonly pruneAt?: number | undefined;
  /** Updates that are to be delivered; absent where nobody listens. */
  readonly outbox?: Outbox | undefined;
  /** Of a record that delivery keeps: how far its stream was acknowledged. */
  readonly acknowledged?: Position | undefined;
  /** Null: none yet. */
  readonly memory: unknown;
};

/** Opaque token of a stored version, for compare-and-swap. */
export type Version = string;

/** `edited`: somebody else has changed it since it was saved. */
export type Loaded = { readonly record: unknown; readonly version: Version; readonly edited?: boolean };

export type Checkpoints = {
  load(key: Key): Promise<Loaded | undefined>;
  /** Stores if the version is still the given one (undefined: if there is none); "raced" changes nothing. */
  save(key: Key, record: CheckpointRecord, version: Version | undefined): Promise<Version | "raced">;
  /** Removes if the version is still the given one. */
  remove(key: Key, version: Version): Promise<"removed" | "raced">;
  /** False while no record of a key without a namespace can be kept: the namespace of such records is missing. Absent: it always can. */
  homed?(): Promise<boolean>;
};

/** Sending side of the queue. */
export type Queue = {
  /** First in, first out per key; a repeated id within five minutes vanishes. */
  send(message: Message, dedupeId: string): Promise<void>;
  /** At most 900 s. */
  sendLater(message: Message, dedupeId: string, delayMs: number): Promise<void>;
};

/** Whoever listens to a key. */
export type Updates = {
  /** Where updates of an object with these annotations go; undefined: nowhere. */
  destinationOf(key: Key, annotations: Readonly<Record<string, string>> | undefined): Promise<string | undefined>;
  /** How far the key's stream was acknowledged; undefined when nothing ever was. */
  acknowledged(key: Key): Promise<Position | undefined>;
};

/** Secret values made by chance, base64 by the key of a Secret's `data`: for the object alone, never to be told or kept. */
export type Chance = (what: "ssh-key") => Promise<Readonly<Record<string, string>>>;

export type Clock = {
  /** Milliseconds that only grow. */
  monotonic(): number;
};

/** One structured line of what a step did. No secret may be in it. */
export type Report = (
  level: "debug" | "info" | "warn" | "error",
  message: string,
  fields?: Record<string, unknown>,
) => void;

/** Gives what the work gives, or throws a BudgetError when it takes longer than `ms`. The work is pure. */
export type TimeLimit = <T>(ms: number, work: () => T) => T;

/** A decision of one version of a key's object. */
export type Decision = { readonly key: string; readonly namespace: string; readonly version: string };

/** A decision that was stopped `count` times; 0 when the process died during it once, which may be chance. Epoch ms. */
export type Stop = Decision & { readonly count: number; readonly at: number };

/** What outlives the process. Writes are synchronous: the process may die with the next instruction. */
export type Journal = {
  /** The decision during which the process before died. */
  readonly died: Decision | undefined;
  /** The stops that were saved. */
  readonly stops: readonly Stop[];
  begin(decision: Decision): void;
  end(): void;
  save(stops: readonly Stop[]): void;
};
