/** What a kind can say about coming back: what it owns, what of a memory is worth keeping, and what a run was. Pure. */
import type { Key } from "./key.ts";
import type { Stored } from "./object.ts";
import type { Looking } from "./query.ts";

/** A run that is over: what is kept of it until its retention has passed. Instants in epoch ms. */
export type PastRun = {
  readonly attempt: number;
  readonly submissionId?: string | undefined;
  /** UID of its driver's pod, if it was ever seen. */
  readonly driver?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt: number;
  readonly outcome: "completed" | "failed" | "refused" | "replaced" | "suspended" | "voided" | "ended";
  readonly error?: string | undefined;
  /** How many executors were lost; absent if none. */
  readonly losses?: number | undefined;
};

/** Time within which what a record tells of may come back; nothing of it is reported lost before. Epoch ms. */
export type Returning = {
  readonly since: number;
  readonly until: number;
  /** What has not come back by then is ended. */
  readonly ends?: boolean | undefined;
};

/** Where what belongs to a key is looked for, and by whose UIDs it is known beside the application's own. */
export type OwnedObjects = {
  readonly queries: readonly Looking[];
  readonly owners: readonly string[];
};

/** What a memory is made anew from. */
export type Remains = {
  readonly key: Key;
  readonly object: Stored;
  /** What the queries of `ownedObjects` found, in their order. */
  readonly found: readonly (readonly Stored[])[];
  readonly now: number;
  /** The memory as it was stored, in whatever state; undefined when there is none. */
  readonly stored: unknown;
};

/** `kept` and `problems` name fields: those that were taken over, and what was wrong with those that were not. */
export type Rebuilt<Memory> = {
  readonly memory: Memory;
  readonly kept: readonly string[];
  readonly problems: readonly string[];
};

/** Methods, so that the engine may hold those of every kind side by side. */
export type Recovery<Memory> = {
  ownedObjects(key: Key, uid: string, memory: Memory | undefined): OwnedObjects;
  /** False for what is history already, and outlives a cleanup. */
  isLive(object: Stored): boolean;
  /** What parses is kept, field by field; the rest follows from the object's status and from what is there. */
  rebuild(remains: Remains): Rebuilt<Memory>;
  /** Every UID in it means nothing any more: what has ended stays so, a run under way becomes the next attempt. */
  voided(memory: Memory): Memory;
  /** Everything was ended by somebody's order: nothing is to begin again. Absent: the kind knows no such state. */
  ended?(memory: Memory, now: number, message: string): Memory;
  /** Of a kind without `ended`: the object's whole status when all that it owned has ended by order. Epoch ms. */
  emptied?(object: Stored, memory: Memory, now: number, message: string): Readonly<Record<string, unknown>>;
  /** The run that is over when `before` becomes `after`. */
  past?(before: Memory, after: Memory, now: number): PastRun | undefined;
  /** The same with less in it, for a record that would be too large. */
  trimmed?(memory: Memory): Memory;
  /** The re-registration timeout that the object asks for, ms. */
  returnMs?(object: Stored): number | undefined;
};

/** A parser's complaint. */
export type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/** What was stored, without the fields that a parser complained of; nothing of what is no object. */
export const withoutBad = (stored: unknown, issues: readonly Issue[]): Readonly<Record<string, unknown>> => {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {};
  const bad = new Set(issues.map(({ path }) => String(path[0])));
  return Object.fromEntries(Object.entries(stored).filter(([key]) => !bad.has(key)));
};

/** One line for each complaint: `driver.attempt: expected number`. `whole` stands for the value itself. */
export const problemsIn = (issues: readonly Issue[], whole: string): readonly string[] =>
  issues.map(({ path, message }) => `${path.map(String).join(".") || whole}: ${message}`);
