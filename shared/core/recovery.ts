/** A kind's part of a recovery: the objects that it owns, the memory to keep, and its past runs. Pure. */
import type { Key } from "./key.ts";
import type { Stored } from "./object.ts";
import type { Looking } from "./query.ts";

/** A run that is over; kept until its retention has passed. Instants in epoch ms. */
export type PastRun = {
  readonly attempt: number;
  readonly submissionId?: string | undefined;
  /** UID of its driver's pod, if it was ever seen. */
  readonly driver?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt: number;
  readonly outcome: "completed" | "failed" | "refused" | "replaced" | "suspended" | "voided" | "ended";
  readonly error?: string | undefined;
  /** The number of lost executors; absent if none. */
  readonly losses?: number | undefined;
};

/** The recovery window: missing objects may still appear in it, and none is reported lost before its end. Epoch ms. */
export type Returning = {
  readonly since: number;
  readonly until: number;
  /** Objects that have not appeared by the end are ended. */
  readonly ends?: boolean | undefined;
};

/** Queries that find the objects of a key, and the UIDs of their owners beside the application's own. */
export type OwnedObjects = {
  readonly queries: readonly Looking[];
  readonly owners: readonly string[];
};

/** The input for rebuilding a memory. */
export type Remains = {
  readonly key: Key;
  readonly object: Stored;
  /** The results of the queries of `ownedObjects`, in their order. */
  readonly found: readonly (readonly Stored[])[];
  readonly now: number;
  /** The memory as it was stored, valid or not; undefined if there is none. */
  readonly stored: unknown;
};

/** `kept` and `problems` name fields: those that were taken over, and the problems of those that were not. */
export type Rebuilt<Memory> = {
  readonly memory: Memory;
  readonly kept: readonly string[];
  readonly problems: readonly string[];
};

/** Methods, so that the engine may hold the recoveries of every kind side by side. */
export type Recovery<Memory> = {
  ownedObjects(key: Key, uid: string, memory: Memory | undefined): OwnedObjects;
  /** False for objects that have ended and outlive a cleanup. */
  isLive(object: Stored): boolean;
  /** Keeps the fields that parse; derives the rest from the object's status and the existing objects. */
  rebuild(remains: Remains): Rebuilt<Memory>;
  /**
   * Returns the memory for another cluster, where its UIDs are invalid: ended runs stay ended, a run under way becomes
   * the next attempt.
   */
  voided(memory: Memory): Memory;
  /** Returns the memory after a cleanup: nothing begins again. Absent: the kind has no such state. */
  ended?(memory: Memory, now: number, message: string): Memory;
  /** For a kind without `ended`: the object's whole status after a cleanup. Epoch ms. */
  emptied?(object: Stored, memory: Memory, now: number, message: string): Readonly<Record<string, unknown>>;
  /** Returns the run that ended between `before` and `after`. */
  past?(before: Memory, after: Memory, now: number): PastRun | undefined;
  /** Returns a smaller memory, for a record that would be too large. */
  trimmed?(memory: Memory): Memory;
  /** Returns the length of the recovery window that the object asks for, ms. */
  returnMs?(object: Stored): number | undefined;
};

/** One problem that a parser reports. */
export type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/** Returns the stored value without the fields that have issues; {} if it is not an object. */
export const withoutBad = (stored: unknown, issues: readonly Issue[]): Readonly<Record<string, unknown>> => {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {};
  const bad = new Set(issues.map(({ path }) => String(path[0])));
  return Object.fromEntries(Object.entries(stored).filter(([key]) => !bad.has(key)));
};

/** Returns one line for each issue: `driver.attempt: expected number`. `whole` stands for the value itself. */
export const problemsIn = (issues: readonly Issue[], whole: string): readonly string[] =>
  issues.map(({ path, message }) => `${path.map(String).join(".") || whole}: ${message}`);
